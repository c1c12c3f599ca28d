import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PermissionMode } from "../../src/permission/permission-mode.ts";
import { tempFolder } from "../temp-folder.ts";
import { EVERYDAY_LINES, EVERYDAY_RULES, LINES_WITH_CD } from "./asked-lines.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

function workspace(): string {
  const folder = join(tempFolder(), "work");
  mkdirSync(join(folder, "src"), { recursive: true });
  mkdirSync(join(folder, ".git/hooks"), { recursive: true });
  for (const file of ["src/a.ts", "src/b.ts", "package.json"]) writeFileSync(join(folder, file), "x\n");
  symlinkSync("..", join(folder, "out"));
  symlinkSync("../../elsewhere", join(folder, "src/away"));
  return folder;
}

/** The share of everyday lines that ask, in percent. */
function asking(rules: string, mode: PermissionMode, lines: readonly string[] = EVERYDAY_LINES): number {
  const policy = policyIn(workspace(), { rules: shellRules(rules), mode });
  const asked = lines.filter(
    (command) => policy.check({ tool: "bash", input: { command } }).decision !== "allow",
  );
  return Math.round((100 * asked.length) / lines.length);
}

test("of everyday lines few ask under the built-in rules, and fewer with a handful of rules", () => {
  expect([
    asking("ls -la ; ls -la", "default"),
    asking(EVERYDAY_RULES, "default"),
    asking(EVERYDAY_RULES, "acceptEdits"),
  ]).toEqual([29, 8, 6]);
});

test("a rule for cd is enough for lines that go into a folder first", () => {
  expect(asking(`${EVERYDAY_RULES} ; cd src`, "default", LINES_WITH_CD)).toBe(0);
});

test("where edits are accepted, folders are made and files copied inside the workspace", () => {
  const folder = workspace();
  const decide =
    (mode: PermissionMode) =>
    (command: string): string =>
      policyIn(folder, { mode }).check({ tool: "bash", input: { command } }).decision;
  const fine = ["mkdir -p src/new/deep", "mkdir a b", "cp src/a.ts src/c.ts", "cp -p src/a.ts ."];
  const not = [
    "mkdir ../x",
    "mkdir out/x",
    "mkdir -p /tmp/x",
    "mkdir .git/x",
    "mkdir ~/x",
    "mkdir -m 777 x",
    "mkdir $X",
    "cp /etc/hosts x",
    "cp src/a.ts ../x",
    "cp src/a.ts out",
    "cp src/a.ts src/away",
    "cp .env x",
    "cp src/a.ts .git/hooks/pre-commit",
    "cp src/a.ts .nano-agent/x",
    "cp -r src x",
    "cp -t src package.json",
    "cp src/*.ts x",
    "touch x",
    "rm src/a.ts",
    "mv src/a.ts x",
  ];
  expect({
    fine: fine.map(decide("acceptEdits")),
    not: not.filter((command) => decide("acceptEdits")(command) === "allow"),
    asked: fine.filter((command) => decide("default")(command) === "allow"),
    planned: fine.map(decide("plan")),
  }).toEqual({
    fine: fine.map(() => "allow"),
    not: [],
    asked: [],
    planned: fine.map(() => "deny"),
  });
});

test("a file that is copied into a folder is not written through a link that lies there", () => {
  const folder = workspace();
  symlinkSync("../../../elsewhere", join(folder, "src/package.json"));
  const policy = policyIn(folder, { mode: "acceptEdits" });
  expect(policy.check({ tool: "bash", input: { command: "cp package.json src" } }).decision).toBe("ask");
});
