import { expect, test } from "vitest";
import { lintRules } from "./lint-rules.ts";
import { parseRules } from "./parse-rule.ts";
import { ruleText } from "./rule.ts";

function lint(rules: object, tools?: readonly string[]): readonly string[] {
  return lintRules(parseRules(rules), tools).map(
    ({ rule, reason }) => `${rule.action} ${ruleText(rule)}: ${reason}`,
  );
}

test("rules that can never matter are found, and why", () => {
  expect(
    lint({
      allow: [
        "bash(git *)",
        "bash(ls && pwd)",
        "bash(echo 'x')",
        "edit(../x/**)",
        "bash(rm x)",
        "todo",
        "todo",
        "read(src/**)",
      ],
      ask: ["bash(git push*)", "web_fetch"],
      deny: ["bash(rm *)", "web_fetch"],
    }),
  ).toEqual([
    "allow bash(ls && pwd): a pattern is compared with one command at a time: it never has an operator or a redirection in it",
    "allow bash(echo 'x'): a pattern is compared with words after their quotes are removed",
    "allow edit(../x/**): a path with .. in it never resolves: use an absolute or home path",
    "allow todo: todo says the same and more",
    "ask web_fetch: deny web_fetch is stronger and covers it",
  ]);
});

test("names of tools are looked at when the tools are known", () => {
  expect(lint({ allow: ["bahs", "mcp__x__y", "b*"] }, ["bash"])).toEqual([
    "allow bahs: there is no tool bahs",
  ]);
});

test("a rule that matters is left alone", () => {
  expect(
    lint({ allow: ["bash(git *)", "edit(src/**)", "read"], ask: ["bash(git push*)"], deny: ["bash(rm *)"] }),
  ).toEqual([]);
});
