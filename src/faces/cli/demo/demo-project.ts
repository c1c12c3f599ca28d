/** A small package with one real fault, for the demo: `250ms` is read as 250 minutes, and a test says so. */
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

/** The file with the fault. */
export const FAULTY_FILE = "src/parse-duration.js";

/** The prompt of the demo. */
export const DEMO_PROMPT =
  "A test of this project fails. Find out why, fix the code (not the test), and check that all tests pass.";
