import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addSummaries, SUMMARY_FILE, summaryLine, takeSummary } from "../../scripts/summary.ts";
import { tempFolder } from "../temp-folder.ts";

const ROOT = join(import.meta.dirname, "../..");

interface Run {
  readonly ok: boolean;
  readonly lastLine: string;
  readonly left: unknown;
}

function runTests(files: Readonly<Record<string, string>>): Run {
  const root = tempFolder(files);
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  const words = ["run", "--reporter", "default", "--reporter", join(ROOT, "scripts/summary-reporter.ts")];
  const done = spawnSync(join(ROOT, "node_modules/.bin/vitest"), words, { cwd: root, encoding: "utf8" });
  const lastLine = done.stdout.trimEnd().split("\n").at(-1) ?? "";
  return { ok: done.status === 0, lastLine, left: takeSummary(join(root, SUMMARY_FILE)) };
}

const good = 'import { expect, test } from "vitest";\ntest("a", () => expect(1).toBe(1));\n';

test("a summary ends with one line of one form, the skipped ones before it when there are some", () => {
  const summaries = [
    { passed: 2, failed: 0, skipped: 0 },
    { passed: 1, failed: 3, skipped: 4 },
  ];
  expect(summaryLine({ passed: 2, failed: 0, skipped: 0 })).toBe("2 passed, 0 failed");
  expect(summaryLine(addSummaries(summaries))).toBe("4 skipped\n3 passed, 3 failed");
});

test("a run of tests ends with the line and leaves the same numbers behind", () => {
  const tests = `${good}test("b", () => expect(1).toBe(2));\ntest.skip("c", () => {});\ntest("d", () => {});\n`;
  expect(runTests({ "a.test.ts": tests, "b.test.ts": good })).toEqual({
    ok: false,
    lastLine: "3 passed, 1 failed",
    left: { passed: 3, failed: 1, skipped: 1 },
  });
  expect(runTests({ "a.test.ts": good })).toMatchObject({ ok: true, lastLine: "1 passed, 0 failed" });
});

test.each<[string, Readonly<Record<string, string>>]>([
  ["a file that cannot be loaded", { "b.test.ts": 'import "./gone.ts";' }],
  [
    "an error nobody handles",
    { "b.test.ts": 'import { test } from "vitest";\nvoid Promise.reject(new Error("x"));' },
  ],
  [
    "a hook that throws",
    { "b.test.ts": `import { beforeAll } from "vitest";\n${good}beforeAll(() => { throw 1; });` },
  ],
  ["no test at all", {}],
])("%s never ends in 0 failed", (_what, files) => {
  const run = runTests(files);
  expect(run.ok).toBe(false);
  expect(run.lastLine).toMatch(/^\d+ passed, [1-9]\d* failed/);
});

test("the summary is taken once, so that a run that crashes cannot show an older one", () => {
  const root = tempFolder({ [SUMMARY_FILE]: '{ "passed": 1, "failed": 0, "skipped": 0 }' });
  expect(takeSummary(join(root, SUMMARY_FILE))).toEqual({ passed: 1, failed: 0, skipped: 0 });
  expect(takeSummary(join(root, SUMMARY_FILE))).toBeUndefined();
  expect(() => readFileSync(join(root, SUMMARY_FILE))).toThrow(/ENOENT/);
});
