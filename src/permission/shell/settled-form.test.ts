import fc from "fast-check";
import { expect, test } from "vitest";
import { parseShell } from "./parse-shell.ts";
import { printShell } from "./print-shell.ts";
import { isSettled } from "./settled-form.ts";
import { isPlainCommand } from "./shell-literal.ts";

const PLAIN = "ls x if time 2 -a a: . / % + @ in eval let export test function coproc then".split(" ");
const OTHER =
  "'a b' '$x' 'if' 'a' '' 'é' é ! # { } a= = [ ] * ? $a \"$a\" $1 $(ls x) \"$(ls)\" ` ( ) ~ ~/ ~/'x' -o=x > 2> >> < <<< 2>&1 ; && || | & |& \t \n";
const GAPS = [" ", " ", "", "; ", " && ", " | "];

/** Pieces of command lines with different things between them. */
function lines(pieces: readonly string[]): fc.Arbitrary<string> {
  const more = fc.array(fc.tuple(fc.constantFrom(...GAPS), fc.constantFrom(...pieces)), { maxLength: 9 });
  return fc
    .tuple(fc.constantFrom(...pieces), more)
    .map(([first, rest]) => rest.reduce((line, [gap, piece]) => line + gap + piece, first));
}

test("what is settled is printed as it stands", () => {
  fc.assert(
    fc.property(lines([...PLAIN, ...OTHER.split(" ")]), (line) => {
      fc.pre(isSettled(line));
      const { script } = parseShell(line);
      expect(script && printShell(script, line)).toEqual({ text: line });
    }),
    { numRuns: 2000 },
  );
});

test("the words of a plain command are those that the parser finds", () => {
  fc.assert(
    fc.property(lines(PLAIN), (line) => {
      fc.pre(isPlainCommand(line));
      const statements = parseShell(line).script?.commands ?? [];
      const words = statements.map(({ command }) =>
        command.type === "Command" && command.prefix.length === 0
          ? [command.name, ...command.suffix].map((part) => (part?.type === "Word" ? part.value : undefined))
          : undefined,
      );
      expect(words).toEqual([line.split(" ")]);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["ls x; cat 'a b' | wc & ls *'.ts' > x 2>&1", true],
  ["cat \"$(ls x)\"'a b'$f ~/'x' --o=x", true],
  ["ls 'x'", false],
  ["ls if", false],
  ["cat < x; ls;", false],
  ["( ls )", false],
  ["ls 'it'\\''s'", false],
])("%j is settled: %j", (line, settled) => {
  expect(isSettled(line)).toBe(settled);
});
