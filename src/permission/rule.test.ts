import fc from "fast-check";
import { expect, test } from "vitest";
import { isNanoAgentError } from "../core/base/errors.ts";
import { parseRule, parseRules, ruleText } from "./rule.ts";

const GOOD: readonly (readonly [text: string, ...rules: string[]])[] = [
  ["bash(git status*)", "bash(git status*)"],
  ["bash(echo (a) b)", "bash(echo (a) b)"],
  ["edit(src/**)", "edit(src/**)"],
  ["read(./.env)", "read(./.env)"],
  ["web_fetch(domain:example.com)", "web_fetch(domain:example.com)"],
  ["mcp__server__*", "mcp__server__*"],
  ["mcp__server", "mcp__server"],
  ["todo", "todo"],
  ["Bash(git status:*)", "bash(git status)", "bash(git status *)"],
  ["bash(git status:*)", "bash(git status:*)"],
  ["Edit(/src/**)", "edit(./src/**)"],
  ["Edit(//etc/**)", "edit(/etc/**)"],
  ["Read(~/notes/*)", "read(~/notes/*)"],
  ["WebFetch(domain:x.org)", "web_fetch(domain:x.org)"],
  ["skill(review-*)", "skill(review-*)"],
];

test.each(GOOD)("%s is understood", (text, ...rules) => {
  expect(parseRule(text, "allow").map(ruleText)).toEqual(rules);
});

test.each([
  ["Read(.env)", "read(.env)", "read(.env/**)", "read(**/.env)", "read(**/.env/**)"],
  ["Read(./secrets/)", "read(./secrets)", "read(./secrets/**)"],
  ["Edit(/src/**)", "edit(./src/**)"],
  ["Read(//etc)", "read(/etc)", "read(/etc/**)"],
  ["Read(//)", "read(/)", "read(/**)"],
  ["Read(~/.aws)", "read(~/.aws)", "read(~/.aws/**)"],
  ["read(.env)", "read(.env)"],
])("%s denies what it does where it comes from", (text, ...rules) => {
  expect(parseRule(text, "deny").map(ruleText)).toEqual(rules);
});

const BAD: readonly string[] = [
  "",
  "bash(",
  "bash(x",
  "bash()",
  "bash( )",
  "bash x",
  "(x)",
  "bash(x) y",
  "web_fetch(https://x)",
  "web_fetch(domain:)",
  "web_fetch(domain:a*)",
  "mcp__a__b(x)",
  "todo(x)",
  "bsh(ls*)",
  "read(\0)",
  `bash(${"x".repeat(5000)})`,
  "a b",
  "bash;",
];

test.each(BAD)("%j is refused with what was expected", (text) => {
  expect(() => parseRule(text, "allow")).toThrow(/^The permission rule .* is malformed: expected /s);
});

const BAD_SETS: readonly (readonly [value: unknown, message: string])[] = [
  [null, "permissions is null; it must be a list of rules, or an object with lists of rules such as bash("],
  ["bash", 'permissions is "bash"; it must be a list of rules, or an object with lists of rules'],
  [{ alow: [] }, 'Unknown field "alow" in permissions. Did you mean allow?'],
  [{ allow: "bash" }, 'permissions.allow is "bash"; it must be a list of strings.'],
  [{ allow: [1] }, "permissions.allow[0] is 1; it must be a string."],
  [
    JSON.parse('{"__proto__":["bash"]}'),
    'Unknown field "__proto__" in permissions. Known: allow, ask, deny.',
  ],
  [["bash"], 'permissions[0] is "bash"; it must be an object.'],
  [[{ tool: "bash" }], 'permissions[0].action is missing; it must be "allow", "ask" or "deny".'],
  [[{ tool: "bash", action: "yes" }], 'permissions[0].action is "yes"; it must be "allow", "ask" or "deny".'],
  [[{ tool: 1, action: "allow" }], "permissions[0].tool is 1; it must be a string."],
  [
    [{ tool: "bash", patern: "x", action: "allow" }],
    'Unknown field "patern" in permissions[0]. Did you mean pattern?',
  ],
  [
    [JSON.parse('{"__proto__":{"tool":"bash","action":"allow"}}')],
    'Unknown field "__proto__" in permissions[0]. Known: tool, pattern, action.',
  ],
  [
    [Object.create({ tool: "bash", action: "allow" })],
    "permissions[0].tool is missing; it must be a string.",
  ],
  [
    [{ tool: "bash", pattern: ["x"], action: "allow" }],
    "permissions[0].pattern is a list; it must be a string.",
  ],
  [
    [{ tool: "bash", pattern: "", action: "allow" }],
    'The permission rule "bash()" is malformed: expected a pattern between the brackets, or bash alone for every call.',
  ],
];

test.each(BAD_SETS)("%j is refused", (value, message) => {
  expect(() => parseRules(value)).toThrow(message);
});

test("objects and texts mean the same", () => {
  const texts = parseRules({ allow: ["bash(ls*)"], ask: ["edit"], deny: ["read(.env)"] });
  const objects = parseRules([
    { tool: "bash", pattern: "ls*", action: "allow" },
    { tool: "edit", action: "ask" },
    { tool: "read", pattern: ".env", action: "deny" },
  ]);
  expect(texts).toEqual(objects);
});

test("whatever is given, it is either rules or an error of configuration", () => {
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true }), (value) => {
      try {
        expect(Array.isArray(parseRules(value))).toBe(true);
      } catch (error) {
        expect(isNanoAgentError(error, "invalid_config")).toBe(true);
      }
    }),
  );
});
