import { NanoAgentError } from "../base/errors.ts";
import { omitUndefined } from "../base/json.ts";
import type { StopReason } from "../base/stop-reason.ts";
import type { Message, ToolInput, Usage } from "../message/message.ts";
import type { BudgetLimit } from "../model/budget.ts";

/** Tool calls that repeat: their names in order, and how many calls the repetition has taken so far. */
export interface LoopCircle {
  readonly tools: readonly string[];
  readonly calls: number;
}

/**
 * Why a call was allowed or refused: a code of the loop, of the permission room (`deny_rule`, `ask_rule`,
 * `no_rule`, `plan_mode`, `dont_ask_mode`, `protected_path`, `not_judged`), or of your own gate.
 */
export type DecisionCode = LoopDecisionCode | (string & {});

/**
 * Codes of the loop. `cannot_wait`: the call is inside another one · `answered_otherwise`: the person sent a
 * message instead of an answer.
 */
export type LoopDecisionCode =
  | "needs_approval"
  | "nobody_to_ask"
  | "cannot_wait"
  | "person"
  | "run_ending"
  | "answered_otherwise"
  | "hook"
  | "gate_failed"
  | "approver_failed";

/**
 * How a run ended. With `stopReason` `"structured_output"` there is `output`, with `"error"` there is
 * `error`. If you prefer exceptions, use `runOrThrow`.
 */
export type RunResult<Output = unknown> = RunReport & RunEnding<Output>;

/** The fields that depend on the stop reason. */
export type RunEnding<Output> =
  | {
      /** How the run ended; always set. */
      readonly stopReason: "structured_output";
      /** The value for the schema. */
      readonly output: Output;
      readonly error?: never;
    }
  | {
      readonly stopReason: "error";
      readonly output?: Output;
      /** Why the run failed, when `stopReason` is `error`. */
      readonly error: NanoAgentError;
    }
  | {
      readonly stopReason: Exclude<StopReason, "structured_output" | "error">;
      /** The value a finish tool returned. */
      readonly output?: Output;
      readonly error?: never;
    };

/** A run that delivered the value its schema asked for. */
export type StructuredResult<Output> = Extract<
  RunResult<Output>,
  { readonly stopReason: "structured_output" }
>;

/** The fields every {@link RunResult} has. */
export interface RunReport {
  /** The answer: the text of the final message or of a finish tool, or what `onMaxIterations` made. */
  readonly text: string;
  /** The limit reached, when `stopReason` is `budget`. */
  readonly limit?: BudgetLimit;
  /** The calls that repeat, when `stopReason` is `loop_detected`. */
  readonly circle?: LoopCircle;
  /** A sentence for people about `budget`, `loop_detected`, a full window (`output_limit`) or a `refusal`. */
  readonly detail?: string;
  /** The waiting calls, when `stopReason` is `awaiting_approval` or `awaiting_external`. */
  readonly pending?: readonly PendingCall[];
  /** Answered model requests of this run, without the closing summary of `onMaxIterations`. */
  readonly iterations: number;
  /** The whole conversation, apart from what a compaction replaced; ready to be sent again. */
  readonly messages: readonly Message[];
  /** Tokens of this run. */
  readonly usage: Usage;
  /** USD of this run; `undefined` if a price is unknown. */
  readonly cost: number | undefined;
  /** Id of the conversation. */
  readonly sessionId: string;
}

/** A call that waits for somebody outside the run. */
export interface PendingCall {
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  /** `approval`: may it run? · `result`: the caller runs it and passes in its `tool_result`. */
  readonly waitsFor: "approval" | "result";
  /** Id of the question, which an answer may name. This and the fields below: for `approval` only. */
  readonly question?: string;
  /** Why it is asked. */
  readonly reason?: string;
  /** The gate's code for it. */
  readonly code?: DecisionCode;
  /** The part of the call in question. */
  readonly part?: string;
  /** The rule that asks. */
  readonly rule?: string;
  /** The narrowest rule that would allow the call. */
  readonly suggestion?: string;
  /** Working directory of the call and the place it leads to, if known: a yes covers only these. */
  readonly cwd?: string;
  readonly place?: string;
}

/** How a run ended, before it becomes a result. */
export interface Ending {
  readonly stopReason: StopReason;
  /** The answer. Default: the last text the model wrote in this run. */
  readonly text?: string;
  /** True if no message of the conversation holds `text` yet: unless empty, it is added as one. */
  readonly addsText?: boolean;
  readonly output?: unknown;
  readonly limit?: BudgetLimit;
  readonly circle?: LoopCircle;
  readonly error?: NanoAgentError;
  /** See {@link RunResult}. */
  readonly detail?: string;
  /** Answered model requests. Default: those of this run. */
  readonly iterations?: number;
}

/** Thrown for `onMaxIterations: "throw"`, with everything the run produced. */
export class MaxIterationsError extends NanoAgentError {
  readonly result: RunResult;

  constructor(maxIterations: number, result: RunResult) {
    super(
      "max_iterations",
      `The run used all ${maxIterations} model requests without an answer. Raise maxIterations, or set onMaxIterations to "summarize" or "last".`,
      { details: { maxIterations } },
    );
    this.name = "MaxIterationsError";
    this.result = result;
  }
}

/**
 * Thrown by `runOrThrow` and `sendMessage` for a run without an answer, with everything it produced. `code`
 * is that of the run's error, `aborted` for a run that was stopped, otherwise `incomplete`.
 */
export class RunError extends NanoAgentError {
  readonly result: RunResult;

  constructor(result: RunResult) {
    const { error, stopReason } = result;
    const code = error?.code ?? (stopReason === "aborted" ? "aborted" : "incomplete");
    super(code, `${describeMissingAnswer(result)} ${NEXT_STEPS[stopReason] ?? RESUME_HINT}`, {
      details: { ...error?.details, stopReason },
      ...omitUndefined({ cause: error, retryable: error?.retryable }),
    });
    this.name = "RunError";
    this.result = result;
  }
}

const RESUME_HINT = "The conversation is kept: run() without an input continues it.";

const NEXT_STEPS: { readonly [reason in StopReason]?: string } = {
  awaiting_approval: "Answer with run(undefined, { approvals }).",
  awaiting_external: "Answer with a run whose input is the tool results.",
  budget: "Raise the budget; the conversation is kept, and run() without an input continues it.",
  output_limit: "Raise maxOutputTokens, or ask for less; the conversation is kept.",
  refusal: "Rephrase the request; the conversation is kept.",
};

function describeMissingAnswer({ error, stopReason, detail }: RunResult): string {
  // A provider's message may lack a full stop.
  if (error !== undefined) return error.message.replace(/[^\s.!?…。！？]$/u, "$&.");
  return `The run ended with ${stopReason}${detail === undefined ? "." : `: ${detail}`}`;
}
