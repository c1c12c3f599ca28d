import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPolicy, type PolicyDecision } from "../../src/permission/policy.ts";
import { planShell } from "../../src/permission/shell/plan-shell.ts";
import type { ShellUnit } from "../../src/permission/shell/shell-unit.ts";
import { tempFolder } from "../temp-folder.ts";
import { LONG_LINES } from "./long-lines.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

/** What judging a line looks at: commands, characters of them, places on disk. */
interface Work {
  readonly commands: number;
  readonly characters: number;
  readonly places: number;
}

function workOf(line: string): Work {
  let places = 0;
  const readLink = (): undefined => {
    places++;
    return undefined;
  };
  const rules = shellRules("ls* ; echo * ; !rm * ; ?git push*");
  const policy = createPolicy({
    cwd: "/w",
    home: "/h",
    workspace: ["/w"],
    platform: "linux",
    rules,
    readLink,
  });
  policy.check({ tool: "bash", input: { command: line } });
  let commands = 0;
  let characters = 0;
  const count = (units: readonly ShellUnit[]): void => {
    for (const { text, guards } of units) {
      commands++;
      characters += text.length;
      for (const { program = [] } of guards) count(program);
    }
  };
  count(planShell(line).units);
  return { commands, characters, places };
}

test.each(Object.keys(LONG_LINES))(
  "four times the length is at most about four times the work: %s",
  (name) => {
    const shape = LONG_LINES[name] as (length: number) => string;
    const [small, large] = [workOf(shape(10_000)), workOf(shape(40_000))];
    for (const kind of ["commands", "characters", "places"] as const)
      expect(large[kind]).toBeLessThan(5 * Math.max(small[kind], 2_000));
  },
);

const inFolder = (rules: string): ((command: string) => PolicyDecision) => {
  const policy = policyIn(tempFolder(), { rules: shellRules(rules), defaults: false });
  return (command) => policy.check({ tool: "bash", input: { command } });
};

test("however long a line is, a rule that forbids one of its commands does", () => {
  const check = inFolder("!rm * ; *");
  const each = (count: number, piece: (index: number) => string): string =>
    Array.from({ length: count }, (_, index) => piece(index)).join("");
  const lines = [
    `${each(9_000, (index) => `echo a${index}; `)}rm x`,
    `rm x; echo $((${each(20_000, (index) => `${index}+`)}1))`,
    `${each(300, () => `${"echo $(".repeat(40)}ls${")".repeat(40)}; `)}rm x`,
    `${each(300, () => `${"echo $(".repeat(40)}ls${")".repeat(40)}; `)}${"echo $(".repeat(40)}rm x${")".repeat(40)}`,
    `${"echo $(".repeat(60)}rm x${")".repeat(60)}`,
    `${"( ".repeat(500)}rm x${" )".repeat(500)}`,
    `[[ ${"! ".repeat(20_000)} -f a ]]; rm x`,
    `${each(5_000, (index) => `alias a${index}='ls ${index}'; `)}rm x`,
    `${each(5_000, (index) => `x (${index}; `)}rm x`,
  ];
  expect(lines.map((line) => check(line).decision)).toEqual(lines.map(() => "deny"));
});

test("a rule that forbids a file sees it behind thousands of others, also through a link", () => {
  const folder = tempFolder({ "secret/x": "" });
  symlinkSync("secret", join(folder, "way"));
  const policy = policyIn(folder, { rules: [{ tool: "read", pattern: "secret/**", action: "deny" }] });
  const files = Array.from({ length: 6_000 }, (_, index) => `f${index}`).join(" ");
  const decide = (file: string): string =>
    policy.check({ tool: "bash", input: { command: `cat ${files} ${file}` } }).decision;
  expect(["secret/x", "way/x"].map(decide)).toEqual(["deny", "deny"]);
});

test("the built-in rules look at no more than some thousands of words; a rule of the user has no such limit", () => {
  const line = Array.from({ length: 3_000 }, (_, index) => `cat f${index}`).join("; ");
  const folder = tempFolder();
  const { decision, part, parts } = policyIn(folder).check({ tool: "bash", input: { command: line } });
  expect([decision, part, parts?.length]).toEqual(["ask", "cat f2000", 1_000]);
  expect(inFolder("cat *")(line).decision).toBe("allow");
});
