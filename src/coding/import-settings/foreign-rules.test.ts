import fc from "fast-check";
import { expect, test } from "vitest";
import { commandVariants, readCodexRules } from "./foreign-rules.ts";

test("rules on one line with plain words are read, alternatives and comments too; the rest is told by its line", () => {
  const text = `# mine
prefix_rule(pattern = ["git", ["push", 'fetch']], decision = "prompt", match = [["git", "push"]],) # ask me
prefix_rule(pattern=["ls"])
host_executable(name = "git", paths = ["/usr/bin/git"])
prefix_rule(pattern = ["rm"], decision = "forbidden", justification = "no (really), use \\"trash\\"")
prefix_rule(pattern = WORDS, decision = "allow")
prefix_rule(pattern = ["sh", "-c", "a b*"])
prefix_rule(pattern = ["cat"], decision = "constructor")
`;
  const { rules, unread } = readCodexRules(text);
  expect([rules.map((rule) => [rule.action, commandVariants(rule)]), unread]).toEqual([
    [
      ["ask", ["git push", "git fetch"]],
      ["allow", ["ls"]],
      ["deny", ["rm"]],
    ],
    [4, 6, 7, 8],
  ]);
});

test("a rule that may never be made is none: in a text, a function or a list", () => {
  const inText = '"""\nprefix_rule(pattern = ["rm"])\n"""\n';
  const within = `def f():
    prefix_rule(pattern = ["dd"])
x = [prefix_rule(pattern = ["mkfs"]) for _ in []]
prefix_rule(pattern = ["ls"])
`;
  const read = [inText, within].map(readCodexRules);
  expect(read.map(({ rules, unread }) => [rules.map(commandVariants), unread])).toEqual([
    [[], [1, 2, 3]],
    [[["ls"]], [1, 2, 3]],
  ]);
});

const WORD = fc.stringMatching(/^[a-z][a-z.-]{0,8}$/);

test("what is written is what is read, and no text makes it throw or go on for ever", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(WORD, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
      (words) => {
        const { rules, unread } = readCodexRules(`prefix_rule(pattern = ${JSON.stringify(words)})`);
        expect([rules, unread]).toEqual([[{ words, action: "allow" }], []]);
      },
    ),
  );
  const piece = fc.constantFrom(
    "prefix_rule",
    "(",
    ")",
    "[",
    "]",
    ",",
    "=",
    '"',
    "'",
    "\\",
    "#",
    "\n",
    "pattern",
    "a",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece).map((each) => each.join("")),
      ),
      (text) => {
        const { rules } = readCodexRules(text);
        expect(rules.every(({ words }) => words.length > 0)).toBe(true);
      },
    ),
  );
});
