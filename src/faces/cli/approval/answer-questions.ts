import type { CodingSession } from "../../../coding/session/coding-session.ts";
import type { FoundModel } from "../../../coding/setup/found-model.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { stdinKind } from "../read-stdin.ts";
import type { OutputFormat } from "../run-flags.ts";
import type { Output } from "../standard-output.ts";
import type { Style } from "../style.ts";
import type { TerminalKeys } from "./terminal-keys.ts";

/**
 * True when the person who started a run can be asked: standard input and standard error are both a terminal,
 * and the output is text for people. Where nobody can, every question is a no.
 */
export function canAsk(stderr: Output, format: OutputFormat): boolean {
  return format === "text" && stderr.isTerminal && stdinKind() === "terminal";
}

/** Where questions are put. */
export interface QuestionPlace {
  readonly stderr: Output;
  readonly style: Style;
  /** See {@link import("./terminal-question.ts").TerminalQuestionOptions.hold}. */
  readonly hold: () => () => void;
}

/** Lets a person answer the questions of a session, as they come. What asks is loaded with the first one. */
export function answerQuestions(session: CodingSession, { stderr, style, hold }: QuestionPlace): void {
  session.onQuestion(async (question, signal) => {
    const { terminalKeys, TerminalQuestion } = await import("./terminal-question.ts");
    const asked = new TerminalQuestion(question, signal, {
      keys: terminalKeys,
      output: stderr,
      style,
      width: () => process.stderr.columns || 80,
      hold,
      onInterrupt: () => void process.kill(process.pid, "SIGINT"),
      onSuspend: (resumed) => {
        process.once("SIGCONT", resumed);
        process.kill(0, "SIGTSTP");
      },
    });
    session.answer(question.id, await asked.ask());
  });
}

/** Asks whether a local server that was found is to get the prompt. Only a `y` is a yes. */
export async function askAboutServer(
  { name, baseUrl, isLoading }: FoundModel,
  output: Output,
  keys?: TerminalKeys,
): Promise<boolean> {
  const { askYes } = await import("./ask-yes.ts");
  const state = isLoading === true ? ", when it has loaded its model" : "";
  const question = `No model was chosen. Send the prompt to ${name} at ${baseUrl}${state}? [y/N]`;
  return askYes(`${terminalLine(question, 500)} `, output, keys);
}
