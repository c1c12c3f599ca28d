import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { CodingSession } from "../../coding/session/coding-session.ts";
import type { FoundModel } from "../../providers/catalog.ts";
import type { QuestionListener } from "../../view/question.ts";
import { terminalLine } from "../../view/safe-text.ts";
import type { LineOutput } from "../terminal/line-drawer.ts";
import { type CommandContext, isTerminal, type Output, styleFor } from "./command-context.ts";
import { stdinKind } from "./prompt.ts";
import type { OutputFormat } from "./run-flags.ts";

/**
 * True if the person who started a run can be asked: standard input and standard error are terminals, and the
 * output is text for people. Otherwise every question counts as a no.
 */
export function canAsk(stderr: Output, format: OutputFormat): boolean {
  return format === "text" && stderr.isTerminal && stdinKind() === "terminal";
}

/** The terminal for questions. `hold`: pauses all other output until the returned function is called. */
interface QuestionTerminal extends LineOutput {
  readonly hold: () => () => void;
}

/** Lets a person answer a session's questions as they come. Loads the code that asks with the first one. */
export function answerQuestions(session: CodingSession, { hold, ...place }: QuestionTerminal): void {
  const answer: QuestionListener = async (question, signal) => {
    const { askInLines } = await import("../terminal/line-drawer.ts");
    const release = hold();
    // After the terminal is handed back, nothing else may keep the process alive.
    const alive = setInterval(() => undefined, 60_000);
    try {
      const { stdin: input, stderr: output } = process;
      const reply = await askInLines(question, signal, { ...place, input, output });
      if (reply !== undefined) session.answer(question.id, reply);
      else {
        process.kill(process.pid, "SIGINT");
        await once(signal, "abort");
      }
    } finally {
      clearInterval(alive);
      release();
    }
  };
  // Forms for values need the screen.
  session.onQuestion(answer, { values: false });
}

/** Asks whether a local server that was found may receive the prompt. */
export async function askAboutServer(
  { name, baseUrl, isLoading }: FoundModel,
  output: Output,
  ask: typeof confirmOnTerminal = confirmOnTerminal,
): Promise<boolean> {
  const state = isLoading === true ? ", when it has loaded its model" : "";
  const question = `No model was chosen. Send the prompt to ${name} at ${baseUrl}${state}? [y/N]`;
  return ask(`${terminalLine(question, 500)} `, output);
}

/**
 * Asks for agreement to what was shown; `{}` is replaced by the count. Without a terminal the answer is no.
 */
export async function confirmItems(
  context: CommandContext,
  count: number,
  question: string,
): Promise<boolean> {
  const { stderr } = context;
  if (!isTerminal(0) || !stderr.isTerminal) return false;
  const text = question.replace("{}", count === 1 ? "this" : `these ${count}`);
  return confirmOnTerminal(styleFor(true, context.environment).bold(`${text} [y/N] `), stderr);
}

/** Asks for a yes on the terminal: `y` and Enter. Any other line, or end of input, is a no. */
async function confirmOnTerminal(question: string, output: Output): Promise<boolean> {
  const reader = createInterface({ input: process.stdin });
  const closed = new Promise<string>((resolve) => reader.once("close", () => resolve("")));
  output.write(question);
  try {
    return /^y(es)?$/i.test((await Promise.race([reader.question(""), closed])).trim());
  } finally {
    reader.close();
  }
}
