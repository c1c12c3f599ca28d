import { mayShowDiffs } from "./diff-options.ts";
import { parseShell } from "./parse-shell.ts";
import type { JudgedLine, ShellPlan } from "./plan-shell.ts";
import { type PrintedShell, type PrintShellOptions, printShell } from "./print-shell.ts";
import { shellLiteral } from "./shell-literal.ts";

/**
 * The form in which a judged line may run: printed anew from the tree it was judged by. What it hands to
 * other shells has to be printable as well, since they read it once more.
 */
export function printPlan(
  { lines }: ShellPlan,
  options: Pick<PrintShellOptions, "plainDiffs"> = {},
): PrintedShell {
  const [line, ...inner] = lines;
  if (line === undefined) return { part: "", reason: "it cannot be read" };
  for (const each of inner) {
    const printed = printLine(each, {});
    if (printed.text === undefined) return printed;
  }
  return printLine(line, options);
}

function printLine(
  { script, source, posix }: JudgedLine,
  { plainDiffs = false }: PrintShellOptions,
): PrintedShell {
  // Most lines are words with a blank between them, which are printed as they stand.
  if (isPlain(source) && !(plainDiffs && mayShowDiffs(source.split(" ")))) return { text: source };
  const printed = printShell(script, source, { posix, plainDiffs });
  if (printed.text === undefined || printed.text === source || isPlain(printed.text)) return printed;
  // Whoever reads the printed form has to find in it just what was printed.
  const again = parseShell(printed.text);
  const reread =
    again.script === undefined ? undefined : printShell(again.script, printed.text, { posix, plainDiffs });
  return reread?.text === printed.text
    ? printed
    : { part: source, reason: "it reads differently once it is printed anew" };
}

/** True when a line is one command of words that everybody reads as they stand. */
function isPlain(line: string): boolean {
  return WORDS.test(line) && line.split(" ").every((word) => shellLiteral(word) === word);
}

const WORDS = /^[\w./:,@%+-]+(?: [\w./:,@%+-]+)*$/;
