import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesText } from "../../src/permission/match-text.ts";
import { PathPattern } from "../../src/permission/paths/match-path.ts";
import { tempFolder } from "../temp-folder.ts";
import { commandLines } from "./command-grammar.ts";
import { DENIED_SPELLINGS } from "./command-lists.ts";
import { EFFECT_CASES } from "./effect-cases.ts";
import { COMMAND_CASES } from "./shell-cases.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

const SHELL_CASES = [...COMMAND_CASES, ...EFFECT_CASES];

const RANK = { deny: 0, ask: 1, allow: 2 };
const lines = fc.oneof(
  commandLines,
  fc.constantFrom(...SHELL_CASES.map(([, command]) => command)),
  fc.constantFrom(...DENIED_SPELLINGS),
);
const patterns = fc.oneof(
  fc.constantFrom(
    "*",
    "ls*",
    "rm *",
    "git *",
    "echo *",
    "bash *",
    "sudo *",
    "* x",
    "find *",
    "cd *",
    "A=* *",
    "rm x",
    "*rm*",
  ),
  lines,
);
const garbage = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.string({ unit: fc.constantFrom(..."$`\"'\\(){}[]<>|&;\n#!*?~= ab".split("")), maxLength: 120 }),
  lines,
);

test("random text never throws, and is never allowed without rules", () => {
  const policy = policyIn(tempFolder(), { defaults: false });
  fc.assert(
    fc.property(
      garbage,
      fc.constantFrom("bash", "edit", "write", "web_fetch", "mcp__a__b", "odd"),
      (text, tool) => {
        const { decision } = policy.check({ tool, input: { command: text, path: text, url: text } });
        expect(decision).toBe("ask");
      },
    ),
    { numRuns: 1500 },
  );
});

test("another allow rule never turns a deny or an explicit question into something weaker", () => {
  const folder = tempFolder();
  fc.assert(
    fc.property(lines, patterns, patterns, (command, denied, allowed) => {
      fc.pre(denied.trim() !== "" && allowed.trim() !== "" && !/\0/.test(denied + allowed));
      const input = { command };
      const deny = { tool: "bash", pattern: denied, action: "deny" } as const;
      const allow = { tool: "bash", pattern: allowed, action: "allow" } as const;
      const before = policyIn(folder, { rules: [deny], defaults: false }).check({ tool: "bash", input });
      const after = policyIn(folder, { rules: [allow, deny], defaults: false }).check({
        tool: "bash",
        input,
      });
      expect(before.decision === "deny").toBe(after.decision === "deny");
    }),
    { numRuns: 600 },
  );
});

test("joining commands with an operator never allows more than each of them alone", () => {
  const folder = tempFolder();
  fc.assert(
    fc.property(
      lines,
      lines,
      fc.constantFrom("\n", "; ", " && ", " || ", " | "),
      patterns,
      (left, right, operator, pattern) => {
        fc.pre(pattern.trim() !== "" && !pattern.includes("\0"));
        const policy = policyIn(folder, {
          rules: [{ tool: "bash", pattern, action: "allow" }],
          defaults: false,
        });
        const decide = (command: string): number =>
          RANK[policy.check({ tool: "bash", input: { command } }).decision];
        // A first line that is not whole (an open quote, a here-document) takes the second one in, and a loop
        // gives the second one's variables values that are known.
        fc.pre(decide(left) === RANK.allow && !left.includes("<<") && !/\\$|#|\bfor\b/.test(left));
        expect(decide(left + operator + right)).toBeLessThanOrEqual(
          Math.max(decide(right), /^\s*(?:#|$)/.test(right) ? RANK.allow : RANK.deny),
        );
      },
    ),
    { numRuns: 100 },
  );
});

const quotings: readonly ((char: string) => string)[] = [
  (char) => char,
  (char) => `\\${char}`,
  (char) => `'${char}'`,
  (char) => `"${char}"`,
  (char) => `$'\\x${char.charCodeAt(0).toString(16)}'`,
  (char) => `''${char}`,
];

test("however the letters of a denied command are quoted, it stays denied", () => {
  const policy = policyIn(tempFolder(), { rules: shellRules("!rm -rf * ; *"), defaults: false });
  const spelling = fc
    .tuple(
      ...[..."rm -rf /"].map((char) =>
        char === " "
          ? fc.constantFrom(" ", "  ", "\t", " \\\n")
          : fc.constantFrom(...quotings).map((quote) => quote(char)),
      ),
    )
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(spelling, (command) => {
      expect(policy.check({ tool: "bash", input: { command } }).decision).toBe("deny");
    }),
    { numRuns: 500 },
  );
});

test("a pattern matches what a naive reading of it matches", () => {
  const small = fc.string({ unit: fc.constantFrom("a", "b", " ", "*", "/"), maxLength: 10 });
  const naive = (pattern: string, text: string): boolean => {
    if (pattern === "") return text === "";
    if (pattern.startsWith("*"))
      return naive(pattern.slice(1), text) || (text !== "" && naive(pattern, text.slice(1)));
    return text.startsWith(pattern.charAt(0)) && naive(pattern.slice(1), text.slice(1));
  };
  fc.assert(
    fc.property(small, small, (pattern, text) => {
      expect(matchesText(pattern, text)).toBe(naive(pattern, text));
    }),
    { numRuns: 3000 },
  );
});

test("a star never stands for characters that are fixed", () => {
  expect([
    matchesText("find *", "find . -delete", [{ from: 7, to: 14 }]),
    matchesText("find * -delete", "find . -delete", [{ from: 7, to: 14 }]),
    matchesText("find *-delete*", "find . -delete -print", [{ from: 7, to: 14 }]),
    matchesText("find *e", "find . -delete", [{ from: 7, to: 14 }]),
    matchesText("find *", "find ", [{ from: 5, to: 5 }]),
  ]).toEqual([false, true, true, false, false]);
});

test("a path pattern matches what a naive reading of it matches", () => {
  const unit = fc.constantFrom("a", "b", "*", "/", ".");
  const naive = (pattern: string, path: string, begins = true): boolean => {
    if (pattern === "") return path === "";
    if (pattern.startsWith("**/") && begins) {
      if (naive(pattern.slice(3), path)) return true;
      const slash = path.indexOf("/");
      return slash !== -1 && naive(pattern, path.slice(slash + 1));
    }
    if (pattern.startsWith("**")) {
      const rest = pattern.replace(/^\*+/, "");
      if (begins && rest.startsWith("/")) return naive(`**${rest}`, path);
      return Array.from({ length: path.length + 1 }, (_, at) => at).some((at) =>
        naive(rest, path.slice(at), false),
      );
    }
    if (pattern.startsWith("*"))
      return (
        naive(pattern.slice(1), path, false) ||
        (path !== "" && !path.startsWith("/") && naive(pattern, path.slice(1), false))
      );
    return (
      path.startsWith(pattern.charAt(0)) && naive(pattern.slice(1), path.slice(1), pattern.startsWith("/"))
    );
  };
  const text = fc.string({ unit, maxLength: 9 });
  fc.assert(
    fc.property(
      text,
      fc.string({ unit: fc.constantFrom("a", "b", "/", "."), maxLength: 9 }),
      (pattern, path) => {
        fc.pre(!pattern.includes("***"));
        expect(new PathPattern(pattern).matches(path)).toBe(naive(pattern, path));
      },
    ),
    { numRuns: 3000 },
  );
});
