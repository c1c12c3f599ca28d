import type { PhaseEvent } from "../core/agent/entries.ts";
import { type NestedRun, runNested } from "../core/agent/loop.ts";
import { endRun } from "../core/agent/perform.ts";
import type { Ending, RunResult } from "../core/agent/result.ts";
import type { Run } from "../core/agent/run.ts";
import { misuse } from "../core/base/errors.ts";
import { hasAnswer } from "../core/base/stop-reason.ts";
import { type Message, messageText, type UserBlock } from "../core/message/message.ts";

/**
 * True when the conversation stands at a question. Elsewhere it is in the middle of a run that was begun
 * without a pattern, and goes on so.
 */
export function standsAtQuestion({ state }: Run): boolean {
  const { messages, hasPending } = state.transcript;
  const last = messages.at(-1);
  // The answers of phases are none of the conversation's.
  const hasAnswered = state.progress.iterations > 0;
  return (
    !hasPending &&
    !hasAnswered &&
    (last === undefined || last.content.some(({ type }) => type !== "tool_result"))
  );
}

/**
 * The phases of one run of a pattern: each a nested run that sees the conversation before the question, and
 * is asked what the pattern makes of the question. The conversation gets question and answer.
 */
export class Phases {
  /** Text of the message that is to be answered. */
  readonly question: string;
  readonly #run: Run;
  readonly #history: readonly Message[];
  /** The parts of the question beside text, e.g. images; every phase sees them. */
  readonly #attachments: readonly UserBlock[];
  #iterations = 0;

  /** Throws `invalid_argument` for a conversation in which nobody asked anything. */
  constructor(run: Run) {
    const { messages } = run.state.transcript;
    const at = messages.findLastIndex(({ role }) => role === "user");
    const asked = messages[at];
    if (asked?.role !== "user") throw misuse("There is no question to work on: pass an input.");
    this.#run = run;
    this.#history = messages.slice(0, at);
    this.#attachments = asked.content.filter((block) => block.type === "image");
    this.question = messageText(asked, "\n");
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

  /** True when the pattern can go on with what a phase came to. Where not, the run ends as the phase did. */
  canGoOnFrom({ stopReason }: RunResult): boolean {
    if (stopReason === "max_iterations" && this.#run.until.onMaxIterations === "throw") return false;
    return hasAnswer(stopReason);
  }

  /** Ends the run; a text that is not empty becomes the answer in the conversation. */
  end(ending: Ending): Promise<RunResult> {
    return endRun(this.#run, { ...ending, addsText: true, iterations: this.#iterations });
  }
}
