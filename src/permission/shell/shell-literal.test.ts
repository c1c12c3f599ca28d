import fc from "fast-check";
import { expect, test } from "vitest";
import { parseShell } from "./parse-shell.ts";
import { printShell } from "./print-shell.ts";
import { isPlainCommand } from "./shell-literal.ts";

const WORDS = "ls x if time 2 -a a: . / % + @ in eval let export test function coproc then".split(" ");
const GAPS = [" ", " ", "", "; ", " && ", " | "];

/** Lines of plain words with different things between them. */
const more = fc.array(fc.tuple(fc.constantFrom(...GAPS), fc.constantFrom(...WORDS)), { maxLength: 9 });
const lines: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...WORDS), more)
  .map(([first, rest]) => rest.reduce((line, [gap, piece]) => line + gap + piece, first));

test("the words of a plain command are those that the parser finds, and it is printed as it stands", () => {
  fc.assert(
    fc.property(lines, (line) => {
      fc.pre(isPlainCommand(line));
      const { script } = parseShell(line);
      const words = script?.commands.map(({ command }) =>
        command.type === "Command" && command.prefix.length === 0
          ? [command.name, ...command.suffix].map((part) => (part?.type === "Word" ? part.value : undefined))
          : undefined,
      );
      expect(words).toEqual([line.split(" ")]);
      expect(script && printShell(script, line)).toEqual({ text: line });
    }),
    { numRuns: 2000 },
  );
});
