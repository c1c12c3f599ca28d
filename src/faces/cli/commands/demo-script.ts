import { type ToolResultBlock, textOf } from "../../../core/message/message.ts";
import type { ModelRequest } from "../../../core/model/model.ts";
import { calls, type ScriptStep, says, thinks } from "../../../testing/script.ts";

/**
 * The answers of the scripted model. It checks the real results before it continues: if the machine answers
 * unexpectedly (no `node` on the PATH, say), it stops and reports what it saw.
 */
export const DEMO_SCRIPT: readonly ScriptStep[] = [
  [
    thinks("I should see the failure before I read any code."),
    says("I run the tests first."),
    calls("bash", { command: "node --test" }),
  ],
  (request) =>
    answerIf(lastResult(request).includes("250"), request, [
      says(
        "Two tests fail, both with milliseconds: 250ms comes out as 15000000, which is 250 minutes. I look at the parser, and at what else uses the units.",
      ),
      calls("read", { path: FAULTY_FILE }),
      calls("grep", { pattern: "UNITS", path: "src", mode: "content" }),
    ]),
  (request) =>
    answerIf(lastResult(request).includes("UNITS"), request, [
      says(
        "The pattern offers m before ms, so the s of ms is never reached. The longer unit has to come first.",
      ),
      calls("edit", {
        path: FAULTY_FILE,
        edits: [{ old_string: "(d|h|m|s|ms)", new_string: "(d|h|ms|m|s)" }],
      }),
    ]),
  (request) =>
    answerIf(!lastFailed(request), request, [
      says("Now the tests again."),
      calls("bash", { command: "node --test" }),
    ]),
  (request) =>
    answerIf(!lastFailed(request), request, [
      says(
        `Fixed in ${FAULTY_FILE}: the alternatives of the pattern were tried in order, and "m" matched before "ms" could. With "ms" first, 250ms is 250 again, and all tests pass.`,
      ),
    ]),
];

type Answer = Exclude<ScriptStep, (...args: never[]) => unknown>;

function answerIf(asExpected: boolean, request: ModelRequest, answer: Answer): Answer {
  return asExpected
    ? answer
    : says(
        `This is not what the demo expects, so it ends here. The last result was:\n${lastResult(request)}`,
      );
}

function results(request: ModelRequest): readonly ToolResultBlock[] {
  const blocks = request.messages.at(-1)?.content ?? [];
  return blocks.flatMap((block) => (block.type === "tool_result" ? [block] : []));
}

function lastResult(request: ModelRequest): string {
  const last = results(request).at(-1);
  return last === undefined ? "" : textOf(last.content, "\n");
}

function lastFailed(request: ModelRequest): boolean {
  return results(request).some((block) => block.is_error === true);
}

/** A small package with one real bug, for the demo: `250ms` is read as 250 minutes, and a test shows it. */
export const DEMO_PROJECT: { readonly [path: string]: string } = {
  "package.json": `{
  "name": "duration",
  "version": "1.0.0",
  "type": "module",
  "scripts": { "test": "node --test" }
}
`,
  "README.md": `# duration

Reads and writes lengths of time: \`parseDuration("1h 30m")\` is 5400000, \`formatDuration(5400000)\` is \`1h 30m\`.
`,
  "src/units.js": `/** Milliseconds per unit, the largest first. */
export const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
`,
  "src/parse-duration.js": `import { UNITS } from "./units.js";

/** Milliseconds of a text such as "1h 30m" or "250ms". Throws a RangeError for anything else. */
export function parseDuration(text) {
  const part = /(\\d+(?:\\.\\d+)?)\\s*(d|h|m|s|ms)/g;
  let total = 0;
  let found = false;
  for (const [, amount, unit] of text.matchAll(part)) {
    total += Number(amount) * UNITS[unit];
    found = true;
  }
  if (!found) throw new RangeError(\`not a duration: \${text}\`);
  return total;
}
`,
  "src/format-duration.js": `import { UNITS } from "./units.js";

/** The shortest text for a number of milliseconds, e.g. "1h 30m". */
export function formatDuration(milliseconds) {
  const parts = [];
  let rest = Math.round(milliseconds);
  for (const [unit, size] of Object.entries(UNITS)) {
    const amount = Math.floor(rest / size);
    if (amount > 0) parts.push(\`\${amount}\${unit}\`);
    rest -= amount * size;
  }
  return parts.join(" ") || "0ms";
}
`,
  "test/duration.test.js": `import assert from "node:assert/strict";
import test from "node:test";
import { formatDuration } from "../src/format-duration.js";
import { parseDuration } from "../src/parse-duration.js";

test("hours and minutes add up", () => {
  assert.equal(parseDuration("1h 30m"), 5_400_000);
});

test("milliseconds are read as milliseconds", () => {
  assert.equal(parseDuration("250ms"), 250);
});

test("what is written is read back", () => {
  for (const value of [1, 999, 61_000, 86_400_001]) assert.equal(parseDuration(formatDuration(value)), value);
});

test("anything else is refused", () => {
  assert.throws(() => parseDuration("soon"), RangeError);
});
`,
};

const FAULTY_FILE = "src/parse-duration.js";

export const DEMO_PROMPT =
  "A test of this project fails. Find out why, fix the code (not the test), and check that all tests pass.";
