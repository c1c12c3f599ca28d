import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunRecord } from "../../src/evaluation/results-folder.ts";
import { isAlive } from "../faults/until.ts";
import { tempFolder } from "../temp-folder.ts";
import { runCommand, startCommand } from "./command.ts";
import { suiteOf, twoTasks } from "./suite-room.ts";

const EXAMPLES = join(import.meta.dirname, "../../examples/evaluation");

function record(task: string, solved: boolean, more: Partial<RunRecord> = {}): RunRecord {
  return {
    v: 1,
    task,
    hash: "h",
    model: "openai/gpt-5",
    repeat: 1,
    solved,
    reason: "",
    stop: "completed",
    turns: 4,
    inputTokens: 100,
    outputTokens: 100,
    cachedTokens: 0,
    costUsd: 0.02,
    ms: 1_000,
    checkMs: 1,
    refused: 0,
    session: "s",
    time: "2026-01-01T00:00:00.000Z",
    ...more,
  };
}

function resultsOf(root: string, name: string, records: readonly (RunRecord | string)[]): void {
  mkdirSync(join(root, name));
  const lines = records.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
  writeFileSync(join(root, name, "results.jsonl"), `${lines.join("\n")}\n`);
}

function pidIn(path: string): number {
  return existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
}

const names = Array.from({ length: 8 }, (_none, at) => `task-${at}`);

test("compare says which tasks changed, by how much, and that it is more than chance", async () => {
  const cwd = tempFolder();
  resultsOf(cwd, "a", [
    ...names.map((name) => record(name, false)),
    record("gone", true),
    record("other", true),
    "not a line",
  ]);
  const half = { costUsd: 0.01, ms: 3_000 };
  resultsOf(cwd, "b", [
    ...names.slice(0, 7).map((name) => record(name, true, half)),
    record("task-7", false, half),
    record("other", false, { hash: "another" }),
  ]);
  const end = await runCommand(["eval", "compare", "a", "b"], { cwd });
  expect(end).toMatchObject({ code: 0 });
  expect(end.stdout.split("\n")).toEqual([
    "a openai/gpt-5 → b openai/gpt-5",
    "  solved 0 % → 88 % (+88 points) over 8 tasks",
    "  The second is better, and that is more than chance (p = 0.016).",
    `  better: ${names
      .slice(0, 7)
      .map((name) => `${name} (0 % → 100 %)`)
      .join(", ")}`,
    "  cost × 0.50, time × 3.00, tokens × 1.00, turns × 1.00",
    "  left out, because only one side has them: gone",
    "  left out, because they were changed in between: other",
    "",
  ]);
  expect(end.stderr).toContain("lines that cannot be read are left out: 11");
  const json = JSON.parse((await runCommand(["eval", "compare", "b", "a", "--json"], { cwd })).stdout);
  expect(json).toMatchObject([
    { tasks: 8, chance: 0.015625, isMoreThanChance: true, better: [], shareA: 0.875 },
  ]);
});

test("compare tells a difference that may be chance, and none", async () => {
  const cwd = tempFolder();
  resultsOf(
    cwd,
    "a",
    names.map((name) => record(name, false)),
  );
  resultsOf(
    cwd,
    "b",
    names.map((name, at) => record(name, at < 3, { model: "x/y" })),
  );
  const few = await runCommand(["eval", "compare", "a", "b"], { cwd });
  expect(few.stdout).toContain("a openai/gpt-5 → b x/y");
  expect(few.stdout).toContain(
    "may well be chance: without any difference, one as large comes about with a probability of 25 %",
  );
  expect(few.stdout).toContain("Fewer than 6 tasks differ");
  expect((await runCommand(["eval", "compare", "a", "a"], { cwd })).stdout).toContain(
    "Both solve the same tasks",
  );
});

test("compare pairs models by name, and refuses what has nothing in common", async () => {
  const cwd = tempFolder();
  const both = ["m/one", "m/two"].flatMap((model) => names.map((name) => record(name, true, { model })));
  resultsOf(cwd, "a", both);
  resultsOf(cwd, "b", [...both, record("task-0", true, { model: "m/three" })]);
  resultsOf(
    cwd,
    "c",
    ["m/four", "m/five"].map((model) => record("task-0", true, { model })),
  );
  resultsOf(cwd, "d", [record("elsewhere", true)]);
  resultsOf(cwd, "empty", []);
  const end = await runCommand(["eval", "compare", "a", "b"], { cwd });
  expect(end.stdout.match(/^\S.*→.*$/gm)).toEqual(["a m/one → b m/one", "a m/two → b m/two"]);
  for (const [a, b, message] of [
    ["a", "c", "No model is on both sides"],
    ["a", "empty", "holds no results yet"],
    ["a", "nowhere", "Name a folder that exists"],
    [".", "a", "holds no results.jsonl"],
  ] as const) {
    const refused = await runCommand(["eval", "compare", a, b], { cwd });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)]);
  }
  resultsOf(cwd, "e", [record("task-0", true)]);
  const apart = await runCommand(["eval", "compare", "d", "e"], { cwd });
  expect([apart.code, apart.stderr]).toEqual([2, expect.stringContaining("no task in common")]);
});

test("of a task that was changed and not yet run again in full, compare takes the newest form alone", async () => {
  const cwd = tempFolder();
  const two = (name: string, hash: string): readonly RunRecord[] =>
    [1, 2].map((repeat) => record(name, false, { repeat, hash }));
  resultsOf(cwd, "a", [...two("x", "old"), record("x", true, { hash: "new" })]);
  resultsOf(cwd, "b", [record("x", true, { hash: "new" })]);
  const end = await runCommand(["eval", "compare", "a", "b"], { cwd });
  expect([end.code, end.stdout]).toEqual([0, expect.stringContaining("solved 100 % → 100 %")]);
});

test("the example suite is good", async () => {
  const end = await runCommand(["eval", "validate", EXAMPLES, "--jobs", "3"]);
  expect(end).toMatchObject({ code: 0, stderr: "" });
  expect(end.stdout.split("\n")).toEqual([
    "✓ find-the-port: fails untouched, passes with its reference",
    "✓ fix-the-mean: fails untouched, passes with its reference",
    "✓ sorted-names: fails untouched, passes with its reference",
    "3 good tasks.",
    "",
  ]);
});

test("validate says of each task what is wrong with it", async () => {
  const suite = suiteOf({
    "broken/task.md": "Do it.",
    "easy/task.md": "Do it.",
    "easy/check": "#!/bin/sh\nexit 0\n",
    "lost/task.md": "Do it.",
    "lost/check": "#!/bin/sh\nno-such-program-anywhere\n",
    "mixed/task.md": "Do it.",
    "mixed/check": "#!/bin/sh\nexit 1\n",
    "mixed/files/place": "a file",
    "mixed/reference/place/x": "a folder",
    "never/task.md": "Do it.",
    "never/check": "#!/bin/sh\necho 'not yet'\nexit 1\n",
    "never/reference/x": "",
    "setup/task.md": "Do it.",
    "setup/check": "#!/bin/sh\nexit 1\n",
    "setup/setup": "#!/bin/sh\nexit 7\n",
    "slow/task.md": "---\nlimits: { check: 200ms }\n---\nDo it.",
    "slow/check": "#!/bin/sh\nsleep 1000\n",
    "unproved/task.md": "Do it.",
    "unproved/check": "#!/bin/sh\nexit 1\n",
  });
  const end = await runCommand(["eval", "validate", suite, "--jobs", "2", "--json"]);
  expect(end.code).toBe(1);
  expect(
    Object.fromEntries(
      (JSON.parse(end.stdout) as readonly { task: string; faults: readonly string[] }[]).map(
        ({ task, faults }) => [task, faults.join("; ")],
      ),
    ),
  ).toEqual({
    broken: expect.stringContaining("has no check"),
    easy: "the check passes although nothing was done: it must fail before the task is worked on",
    lost: expect.stringContaining("the check ended with 127: a program it names is not there"),
    mixed: expect.stringContaining("reference cannot be copied over the files"),
    never: "the check fails with the reference: not yet",
    setup: "setup ended with 7",
    slow: "untouched, the check took longer than 0.2 s (limits.check): it must fail by itself",
    unproved: "",
  });
  const text = await runCommand(["eval", "validate", suite, "--task", "unproved", "--task", "easy"]);
  expect([text.code, text.stdout]).toEqual([
    1,
    "✗ easy\n    the check passes although nothing was done: it must fail before the task is worked on\n" +
      "– unproved: fails untouched; without a reference nothing proves that it can be solved\n1 of 2 tasks cannot be used as it stands.\n",
  ]);
});

test("validate goes on with the others when a task changes under its hands", async () => {
  const suite = suiteOf({
    "a/task.md": "Do it.",
    "a/check": "#!/bin/sh\nexit 1\n",
    "a/reference/x": "",
    "b/task.md": "Do it.",
    "b/check": "#!/bin/sh\nexit 1\n",
  });
  writeFileSync(join(suite, "a/check"), `#!/bin/sh\necho more >>${suite}/a/task.md\nexit 1\n`);
  const end = await runCommand(["eval", "validate", suite]);
  expect([end.code, end.stdout.split("\n")]).toEqual([
    1,
    [
      "✗ a",
      expect.stringContaining('The task "a" was changed while it was evaluated'),
      expect.stringContaining("– b: fails untouched"),
      "1 of 2 tasks cannot be used as it stands.",
      "",
    ],
  ]);
});

test("validate that is interrupted ends its checks, and says nothing about them", async () => {
  const pid = join(tempFolder(), "pid");
  const suite = suiteOf({ "a/task.md": "Do it.", "a/check": `#!/bin/sh\necho $$ >${pid}\nsleep 1000\n` });
  const command = startCommand(["eval", "validate", suite]);
  await expect.poll(() => pidIn(pid)).toBeGreaterThan(0);
  command.child.kill("SIGINT");
  expect(await command.end).toMatchObject({ code: 130, stdout: "" });
  await expect.poll(() => isAlive(pidIn(pid))).toBe(false);
});

test("what a suite brings as names cannot reach the terminal", async () => {
  const suite = suiteOf({
    "a\u001b[31m\u0007/task.md": "Do it.",
    "a\u001b[31m\u0007/check": "#!/bin/sh\nexit 1\n",
  });
  const end = await runCommand(["eval", "validate", suite]);
  expect([end.code, end.stdout.includes("\u001b"), end.stdout.includes("␛[31m␇")]).toEqual([0, false, true]);
});

test("a folder that is itself a task stands for it", async () => {
  const suite = twoTasks();
  const end = await runCommand(["eval", "./one", "--list"], { cwd: suite });
  expect([end.code, end.stdout]).toEqual([0, "one  First  [easy]\n"]);
});
