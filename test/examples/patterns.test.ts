import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** Lines an example must print, in this order; others may stand between them. */
const EXAMPLES: readonly (readonly [string, readonly string[]])[] = [
  ["20-simple-agent", ["Hello Ann.", "It is 14:05, Ann.", "tools: clock", "I have nothing to say to that."]],
  [
    "21-react-agent",
    [
      "(I need the population first.)",
      "population: ok",
      "Finish: error",
      "Finish: ok",
      "Oslo has 717,710 people.",
      "717710 structured_output",
    ],
  ],
  [
    "22-plan-and-solve-agent",
    [
      "planning:",
      "step 1 of 2: Find a flight",
      "planning:",
      "step 1 of 2: Find a train",
      "step 2 of 2: Name the price",
      "final_answer:",
      "Take the night train at 20:10 for 89 euros.",
      "the conversation has 2 messages",
    ],
  ],
  [
    "23-reflection-agent",
    [
      "reflection 1",
      "refinement 1",
      "reflection 2",
      "[execution] Tea is nice.",
      "Tea is a pause you can drink.",
    ],
  ],
  [
    "24-user-agent",
    ["name (string)", "nights (integer)", "expected integer, got string", "Ann: 2 nights with breakfast"],
  ],
  [
    "25-agents-together",
    [
      "Rivers remember the mountain. → Flüsse erinnern sich an den Berg.",
      "Too vague. | Lovely.",
      "river: So have I.",
      "max_turns",
    ],
  ],
];

test.each(EXAMPLES)("the example %s runs without a key and prints what it says", async (name, expected) => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [`examples/${name}.ts`], {
    cwd: ROOT,
  });
  expect(stderr).toBe("");
  const printed = stdout.split("\n");
  let from = 0;
  const missing = expected.filter((line) => {
    const at = printed.indexOf(line, from);
    if (at === -1) return true;
    from = at + 1;
    return false;
  });
  expect([missing, missing.length === 0 ? "" : stdout]).toEqual([[], ""]);
});
