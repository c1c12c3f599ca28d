import type { PhaseEvent } from "../core/agent/entries.ts";
import { type NestedRun, runNested } from "../core/agent/loop.ts";
import { endRun } from "../core/agent/perform.ts";
import type { Ending, RunResult } from "../core/agent/result.ts";
import type { Run } from "../core/agent/run.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { hasAnswer } from "../core/base/stop-reason.ts";
import { type Message, messageText, type UserBlock } from "../core/message/message.ts";

/**
 * True if the conversation ends with a question. Otherwise it is in the middle of a run that started without
 * a pattern, and that run is resumed as it is.
 */
export function endsWithQuestion({ state }: Run): boolean {
  const { messages, hasPending } = state.transcript;
  const last = messages.at(-1);
  // The answers of phases are not part of the conversation.
  const hasAnswered = state.progress.iterations > 0;
  return (
    !hasPending &&
    !hasAnswered &&
    (last === undefined || last.content.some(({ type }) => type !== "tool_result"))
  );
}

/**
 * The phases of one run of a pattern. Each is a nested run that sees the conversation before the question and
 * gets its own version of the question. The conversation keeps only question and answer.
 */
export class Phases {
  /** Text of the message to answer. */
  readonly question: string;
  readonly #run: Run;
  readonly #history: readonly Message[];
  /** The parts of the question other than text, such as images; every phase sees them. */
  readonly #attachments: readonly UserBlock[];
  #iterations = 0;

  /** Throws `invalid_argument` if the conversation contains no question. */
  constructor(run: Run) {
    const { messages } = run.state.transcript;
    const at = messages.findLastIndex(({ role }) => role === "user");
    const question = messages[at];
    if (question?.role !== "user") throw invalidArgument("There is no question to work on: pass an input.");
    this.#run = run;
    this.#history = messages.slice(0, at);
    this.#attachments = question.content.filter((block) => block.type === "image");
    this.question = messageText(question, "\n");
  }

  /** Announces a phase and runs it. */
  async run(
    phase: Omit<PhaseEvent, "type">,
    prompt: string,
    options: Omit<NestedRun, "scope" | "history" | "message">,
  ): Promise<RunResult> {
    const number = phase.step ?? phase.round;
    this.#run.emit({ type: "phase", ...phase });
    const result = await runNested(this.#run, {
      ...options,
      scope: number === undefined ? phase.phase : `${phase.phase}/${number}`,
      history: this.#history,
      message: { role: "user", content: [...this.#attachments, { type: "text", text: prompt }] },
    });
    this.#iterations += result.iterations;
    return result;
  }

  /** True if the pattern can continue after a phase. Otherwise the run ends as the phase did. */
  canContinueAfter({ stopReason }: RunResult): boolean {
    if (stopReason === "max_iterations" && this.#run.until.onMaxIterations === "throw") return false;
    return hasAnswer(stopReason);
  }

  /** Ends the run; a text that is not empty becomes the answer in the conversation. */
  end(ending: Ending): Promise<RunResult> {
    return endRun(this.#run, { ...ending, addsText: true, iterations: this.#iterations });
  }
}
