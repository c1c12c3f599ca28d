import type { CommandContext } from "../command-context.ts";
import { isTerminal, type Output } from "../standard-output.ts";
import { styleFor } from "../style.ts";
import { type TerminalKeys, terminalKeys } from "./terminal-keys.ts";

/** Asks for a yes to what was shown; `{}` is how much it is. Nobody to ask is a no. */
export async function agrees(context: CommandContext, count: number, question: string): Promise<boolean> {
  const { stderr } = context;
  if (!isTerminal(0) || !stderr.isTerminal) return false;
  const asked = question.replace("{}", count === 1 ? "this" : `these ${count}`);
  return askYes(styleFor(true, context.environment).bold(`${asked} [y] yes  [n] no `), stderr);
}

/** Asks for a yes on the terminal: `y`; every other answer is a no, and so is no terminal. */
export async function askYes(
  question: string,
  output: Output,
  keys: TerminalKeys = terminalKeys,
): Promise<boolean> {
  const answer = Promise.withResolvers<boolean>();
  try {
    const terminal = keys.open({
      onKeys: (key) => {
        if (key.length === 1 && key !== "\r" && key !== "\n") answer.resolve(key === "y" || key === "Y");
      },
      onEnd: () => answer.resolve(false),
    });
    output.write(question);
    terminal.start();
    try {
      return await answer.promise;
    } finally {
      terminal.close();
      output.write("\n");
    }
  } catch {
    // No terminal to ask on.
    return false;
  }
}
