import { mayShowDiffs } from "./diff-options.ts";
import { parseShell } from "./parse-shell.ts";
import type { JudgedLine, ShellPlan } from "./plan-shell.ts";
import { type PrintedShell, type PrintShellOptions, printShell } from "./print-shell.ts";
import { isPlainCommand } from "./shell-literal.ts";

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
  if (isPlainCommand(source) && !(plainDiffs && mayShowDiffs(source.split(" ")))) return { text: source };
  const options = { posix, plainDiffs };
  const printed = print(source, options, script);
  const { text } = printed;
  if (text === undefined || text === source) return printed;
  // Whoever reads the printed form has to find in it just what was printed.
  return print(text, options).text === text
    ? printed
    : { part: source, reason: "it reads differently once it is printed anew" };
}

function print(source: string, options: PrintShellOptions, script = parseShell(source).script): PrintedShell {
  return script === undefined
    ? { part: source, reason: "it cannot be read" }
    : printShell(script, source, options);
}
