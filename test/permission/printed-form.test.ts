import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";
import { openBashTraces } from "./bash-traces.ts";
import { READING } from "./command-lists.ts";
import { EFFECT_CASES } from "./effect-cases.ts";
import { EVERYDAY_LINES } from "./everyday-lines.ts";
import { shellLines } from "./printable-lines.ts";
import { differing, printed } from "./printed-lines.ts";
import { COMMAND_CASES } from "./shell-cases.ts";
import { BASH } from "./stub-room.ts";

const CORPUS = [
  ...new Set([...EVERYDAY_LINES, ...READING, ...[...COMMAND_CASES, ...EFFECT_CASES].map(([, line]) => line)]),
];

test("everyday command lines can be printed anew", () => {
  const left = EVERYDAY_LINES.filter((line) => printed(line) === undefined);
  expect({ left, enough: EVERYDAY_LINES.length > 280 }).toEqual({ left: [], enough: true });
});

test("what is printed anew is printed the same once more", () => {
  const forms = [...CORPUS, ...fc.sample(shellLines, { numRuns: 1500, seed: 20_261 })].flatMap(
    (line) => printed(line) ?? [],
  );
  expect(forms.filter((form) => printed(form) !== form)).toEqual([]);
  expect(forms.length).toBeGreaterThan(700);
});

test.skipIf(BASH === undefined)(
  "in Bash the printed form of everyday lines does byte for byte what the lines do (needs bash)",
  () => {
    expect(differing(CORPUS, openBashTraces(tempFolder()))).toEqual([]);
  },
);

test.skipIf(BASH === undefined)(
  "in Bash the printed form of lines of every kind of syntax does what the lines do (needs bash)",
  () => {
    const lines = fc.sample(shellLines, { numRuns: 400, seed: 20_262 });
    expect(differing(lines, openBashTraces(tempFolder()))).toEqual([]);
  },
);
