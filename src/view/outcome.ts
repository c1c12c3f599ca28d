import type { DecisionCode } from "../core/agent/result.ts";
import type { NanoAgentError } from "../core/base/errors.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import type { ToolInput } from "../core/message/block.ts";
import type { Usage } from "../core/message/usage.ts";
import type { BudgetLimit } from "../core/model/budget.ts";
import type { ModelSpending } from "../journal/session-usage.ts";

/** A call that was refused. */
export interface Denial {
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  readonly reason: string;
  /** The reason for programs; absent where the gate gave none. */
  readonly code?: DecisionCode;
  /** Why it was asked about, where nobody could answer. */
  readonly questionCode?: DecisionCode;
  /** The rule that would allow it. */
  readonly suggestion?: string;
}

/** How a run ended, in one word, for programs and for what to do next. */
export type OutcomeCode =
  | "success"
  | "error_during_execution"
  | "error_max_turns"
  | "error_max_budget_usd"
  | "error_max_wall_time"
  | "error_max_structured_output_retries"
  | "error_loop_detected"
  | "error_output_limit"
  | "error_refusal"
  | "error_denied"
  | "error_interrupted";

/** One line for people: what stopped the run and how to go on. */
export interface Advice {
  readonly code: OutcomeCode;
  readonly text: string;
}

/** How a run ended, the same for every face. */
export interface Outcome {
  readonly stopReason: StopReason;
  readonly code: OutcomeCode;
  /** The answer; where the run failed, the newest text as far as it had come. */
  readonly text: string;
  /** The value for the schema that was asked for. */
  readonly output?: unknown;
  readonly error?: NanoAgentError;
  /** Which limit, when `stopReason` is `budget`. */
  readonly limit?: BudgetLimit;
  readonly denials: readonly Denial[];
  /** USD of the run; `undefined` when a price is unknown. */
  readonly cost: number | undefined;
  /** Tokens of the run, subagents included. */
  readonly usage: Usage;
  /** Usage and cost of each model, by `provider/id`. */
  readonly models: readonly ModelSpending[];
  /** Model requests of the conversation that were answered. */
  readonly turns: number;
  readonly durationMs: number;
  /** Time that requests took. */
  readonly apiDurationMs: number;
  /** The exit code a program ends with; see `EXIT`. */
  readonly exitCode: number;
  /** Options that go on with the session; absent when nothing is kept. */
  readonly goOn?: string;
  /** Absent for a plain success. */
  readonly advice?: Advice;
}
