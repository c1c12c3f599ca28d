import { NanoAgentError } from "../base/errors.ts";
import type { StopReason } from "../base/stop-reason.ts";
import type { Message } from "../message/message.ts";
import type { Usage } from "../message/usage.ts";
import type { BudgetLimit, LoopCircle } from "./entry.ts";
import type { PendingCall } from "./pending-call.ts";

/** How a run ended, as data. */
export interface RunResult<Output = unknown> {
  /** The answer: all text of the final assistant message, or the text of a finish tool, or what `onMaxIterations` made. */
  readonly text: string;
  /** The value for the requested schema, when there is one. */
  readonly output?: Output;
  readonly stopReason: StopReason;
  /** Which limit, when `stopReason` is `budget`. */
  readonly limit?: BudgetLimit;
  /** Which calls, when `stopReason` is `loop_detected`. */
  readonly circle?: LoopCircle;
  /** Set when `stopReason` is `error`. */
  readonly error?: NanoAgentError;
  /** One sentence for people, when `stopReason` is `budget` (spent how much of what), `loop_detected` (which calls) or `output_limit` (a full window). */
  readonly detail?: string;
  /** The calls that wait, when `stopReason` is `awaiting_approval` or `awaiting_external`. */
  readonly pending?: readonly PendingCall[];
  /** Model requests of this run that were answered, the closing summary of `onMaxIterations` not counted. */
  readonly iterations: number;
  /** The whole conversation, this run included, as far as no compaction replaced it; can be sent again as it is. */
  readonly messages: readonly Message[];
  /** Tokens of this run. */
  readonly usage: Usage;
  /** USD of this run; `undefined` when a price is unknown. */
  readonly cost: number | undefined;
  readonly sessionId: string;
}

/** Thrown for `onMaxIterations: "throw"`; carries everything the run produced. */
export class MaxIterationsError extends NanoAgentError {
  readonly result: RunResult;

  constructor(maxIterations: number, result: RunResult) {
    super(
      "max_iterations",
      `The run used all ${maxIterations} model requests without an answer. Raise maxIterations, or set onMaxIterations to "summarize" or "last".`,
      { details: { maxIterations } },
    );
    this.result = result;
  }
}
