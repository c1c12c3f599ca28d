import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { latestOfEach, ResultsFolder, type RunRecord } from "./results-folder.ts";

function record(more: Partial<RunRecord> = {}): RunRecord {
  return {
    v: 1,
    task: "a",
    hash: "h",
    model: "p/m",
    repeat: 1,
    solved: true,
    reason: "fine",
    stop: "completed",
    turns: 1,
    inputTokens: 1,
    outputTokens: 1,
    cachedTokens: 0,
    costUsd: null,
    ms: 1,
    checkMs: 1,
    refused: 0,
    session: "s",
    time: "2026-01-01T00:00:00.000Z",
    ...more,
  };
}

function folder(): ResultsFolder {
  const made = new ResultsFolder(join(tempFolder(), "deep/results"));
  made.ensure();
  return made;
}

test("wherever the last line was cut, what stands before and what is added after is read", () => {
  const results = folder();
  const [first, second, third] = [
    record(),
    record({ repeat: 2, reason: "ü\u2028\n…" }),
    record({ repeat: 3 }),
  ];
  results.append(first);
  results.append(second);
  const whole = readFileSync(results.results);
  const begin = whole.indexOf(0x0a) + 1;
  fc.assert(
    fc.property(fc.integer({ min: begin + 1, max: whole.length - 2 }), (at) => {
      writeFileSync(results.results, whole.subarray(0, at));
      results.append(third);
      expect(results.read()).toEqual({ records: [first, third], damaged: [2] });
    }),
  );
});

test("lines of another form are named and left out", () => {
  const results = folder();
  const wrong = [{ v: 2 }, { solved: "yes" }, { repeat: 0 }, { costUsd: -1 }, { ms: null }].map((more) => ({
    ...record(),
    ...more,
  }));
  appendFileSync(
    results.results,
    `${[...wrong, null, [], 5].map((each) => JSON.stringify(each)).join("\n")}\n\n`,
  );
  results.append(record());
  expect(results.read()).toEqual({ records: [record()], damaged: [1, 2, 3, 4, 5, 6, 7, 8] });
});

test("of several lines of a run the newest counts", () => {
  const runs = [record({ error: "down" }), record({ repeat: 2 }), record({ solved: false })];
  expect(latestOfEach(runs)).toEqual([record({ repeat: 2 }), record({ solved: false })]);
});

test("other options than those it was begun with are named, and their values are not kept", () => {
  const results = folder();
  results.assertOptions({ maxTurns: 3, systemPrompt: "a secret", pattern: undefined });
  results.assertOptions({ systemPrompt: "a secret", maxTurns: 3 });
  results.assertOptions({ maxTurns: 3, systemPrompt: "a secret" });
  expect(() => results.assertOptions({ maxTurns: 4, systemPrompt: "a secret", addDir: ["/x"] })).toThrow(
    "other options or settings (addDir, maxTurns)",
  );
  const path = join(results.path, "evaluation.json");
  expect(readFileSync(path, "utf8").includes("secret")).toBe(false);
  writeFileSync(path, "{");
  expect(() => results.assertOptions({})).toThrow("cannot be read");
});

test("a place that cannot be written is refused with what to do", () => {
  const root = tempFolder({ file: "" });
  expect(() => new ResultsFolder(join(root, "file/results")).ensure()).toThrow("Name another one with -o.");
  const gone = new ResultsFolder(join(root, "nowhere"));
  expect(() => gone.append(record())).toThrow("Results cannot be written to");
  expect(() => gone.read()).toThrow("holds no results.jsonl");
});

test.each(["results.jsonl", "evaluation.json"])("a pipe in the place of %s holds nobody up", (name) => {
  const results = folder();
  const path = join(results.path, name);
  rmSync(path, { force: true });
  execFileSync("mkfifo", [path]);
  const isOfResults = name === "results.jsonl";
  const use = isOfResults
    ? [() => results.ensure(), () => results.read()]
    : [() => results.assertOptions({})];
  for (const each of [...use, ...(isOfResults ? [() => results.append(record())] : [])])
    expect(each).toThrow(isOfResults ? "is not a regular file" : "evaluation.json cannot be read");
});

test("a link to a device is no place for results", () => {
  const results = new ResultsFolder(tempFolder());
  symlinkSync("/dev/null", results.results);
  expect(() => results.ensure()).toThrow("is not a regular file. Name another one with -o.");
});

test("closed are the folder and those beside it with results, but for one in which agents work", () => {
  const root = realpathSync(tempFolder({ "old/results.jsonl": "", "work/results.jsonl": "", "plain/x": "" }));
  const results = new ResultsFolder(join(root, "new"));
  results.ensure();
  const closed = results.foldersToHide(join(root, "work/tmp"));
  expect([...closed].sort()).toEqual([join(root, "new"), join(root, "old")].sort());
});

test("two new folders of one moment are two", () => {
  const parent = tempFolder();
  const now = new Date("2026-01-02T03:04:05.678Z");
  const made = [ResultsFolder.create(parent, now), ResultsFolder.create(parent, now)];
  expect(made.map(({ path }) => path)).toEqual(
    ["evaluation-20260102-030405", "evaluation-20260102-030405-2"].map((name) => join(parent, name)),
  );
});
