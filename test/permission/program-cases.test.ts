import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";
import { OPTION_CASES } from "./option-cases.ts";
import { COVERED, NOT_COVERED, PROGRAM_CASES } from "./program-cases.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

/** A workspace with a few files. */
function workspace(): string {
  const folder = tempFolder();
  mkdirSync(join(folder, "src"));
  for (const part of ["bare", "bare/objects", "bare/refs"]) mkdirSync(join(folder, part));
  for (const file of ["bare/HEAD", "src/a.ts", "src/b.ts", "package.json"])
    writeFileSync(join(folder, file), "x\n");
  return folder;
}

test("every case under rules of the user is decided as the rules say", () => {
  const folder = workspace();
  const wrong = [...PROGRAM_CASES, ...OPTION_CASES].flatMap(([line, command, expected]) => {
    const policy = policyIn(folder, { rules: shellRules(line), defaults: false });
    const { decision, reason } = policy.check({ tool: "bash", input: { command } });
    return decision === expected
      ? []
      : [`${JSON.stringify(command)} under ${line}: ${decision}, expected ${expected}. ${reason}`];
  });
  expect(wrong).toEqual([]);
});

test("what is read completely runs without a rule", () => {
  const policy = policyIn(workspace());
  const asked = COVERED.flatMap((command) => {
    const { decision, reason } = policy.check({ tool: "bash", input: { command } });
    return decision === "allow" ? [] : [`${command}: ${reason}`];
  });
  expect(asked).toEqual([]);
});

test("what could run, write or read something else asks", () => {
  const policy = policyIn(workspace());
  const passed = NOT_COVERED.filter(
    (command) => policy.check({ tool: "bash", input: { command } }).decision === "allow",
  );
  expect(passed).toEqual([]);
});
