import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PolicyOptions } from "../../src/permission/policy.ts";
import { tempFolder } from "../temp-folder.ts";
import { EVERYDAY_LINES, EVERYDAY_RULES, LINES_WITH_CD } from "./everyday-lines.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

const LINES = [...EVERYDAY_LINES, ...LINES_WITH_CD];

/** The everyday lines that are not allowed. */
function asked(options: Partial<PolicyOptions>): readonly string[] {
  const folder = join(tempFolder(), "work");
  mkdirSync(join(folder, "src"), { recursive: true });
  for (const file of ["src/a.ts", "src/b.ts", "package.json"]) writeFileSync(join(folder, file), "x\n");
  const policy = policyIn(folder, options);
  return LINES.filter((command) => policy.check({ tool: "bash", input: { command } }).decision !== "allow");
}

test("no everyday line asks where the sandbox confines it", () => {
  expect(asked({ mode: "auto", sandbox: "works" })).toEqual([]);
  expect(asked({ mode: "plan", sandbox: "works" })).toEqual([]);
});

test("without a sandbox everyday lines ask unless they only look or a rule covers them", () => {
  const rules = shellRules(EVERYDAY_RULES);
  expect([asked({}).length, asked({ rules }).length, LINES.length]).toEqual([87, 56, 174]);
});
