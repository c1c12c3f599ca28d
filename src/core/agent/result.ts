import { NanoAgentError } from "../base/errors.ts";
import { defined } from "../base/json.ts";
import type { StopReason } from "../base/stop-reason.ts";
import type { Message, ToolInput, Usage } from "../message/message.ts";
import type { BudgetLimit } from "../model/budget.ts";

/** Tool calls that repeat: the names in the circle, in order, and how many calls have gone round so far. */
export interface LoopCircle {
  readonly tools: readonly string[];
  readonly calls: number;
}

/**
 * Why a call was decided so, for programs: a code of the loop, of the permission room (`deny_rule`,
 * `ask_rule`, `no_rule`, `plan_mode`, `dont_ask_mode`, `protected_path`, `not_judged`), or of your own gate.
 */
export type DecisionCode = LoopDecisionCode | (string & {});

/** Codes of the loop. `cannot_wait`: inside another call · `answered_otherwise`: by a message, not a yes. */
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
 * How a run ended, as data. `stopReason === "structured_output"` says that `output` is there, `"error"` that
 * `error` is. `runOrThrow` of the agents is for code that wants exceptions.
 */
export type RunResult<Output = unknown> = RunReport & RunEnding<Output>;

/** The fields that depend on how a run ended. */
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
      /** The value a tool ended the run with, when `stopReason` is `finish_tool`. */
      readonly output?: Output;
      readonly error?: never;
    };

/** A run that gave the value its schema asked for. */
export type StructuredResult<Output> = Extract<
  RunResult<Output>,
  { readonly stopReason: "structured_output" }
>;

/** The fields of a {@link RunResult} for every run. */
export interface RunReport {
  /** The answer: the text of the final message, of a finish tool, or what `onMaxIterations` made. */
  readonly text: string;
  /** Which limit, when `stopReason` is `budget`. */
  readonly limit?: BudgetLimit;
  /** Which calls, when `stopReason` is `loop_detected`. */
  readonly circle?: LoopCircle;
  /** For people: about `budget`, `loop_detected`, the window's `output_limit`, or an explained `refusal`. */
  readonly detail?: string;
  /** The calls that wait, when `stopReason` is `awaiting_approval` or `awaiting_external`. */
  readonly pending?: readonly PendingCall[];
  /** Model requests of this run that were answered, the closing summary of `onMaxIterations` not counted. */
  readonly iterations: number;
  /** The whole conversation as far as no compaction replaced it; can be sent again as it is. */
  readonly messages: readonly Message[];
  /** Tokens of this run. */
  readonly usage: Usage;
  /** USD of this run; `undefined` when a price is unknown. */
  readonly cost: number | undefined;
  /** Id of the conversation. */
  readonly sessionId: string;
}

/** A call that waits for somebody outside the run. */
export interface PendingCall {
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  /** `approval`: may it run? · `result`: the caller runs it and passes its `tool_result`. */
  readonly waitsFor: "approval" | "result";
  /** Id of the question, which an answer may name. This and what follows: for `approval` only. */
  readonly question?: string;
  /** Why it is asked. */
  readonly reason?: string;
  /** The same for programs: the code of the gate. */
  readonly code?: DecisionCode;
  /** The part of the call that is in question. */
  readonly part?: string;
  /** The rule that asks. */
  readonly rule?: string;
  /** The narrowest rule that would allow it. */
  readonly suggestion?: string;
  /** The working folder, and where the call leads, as far as they are known: a yes is for these. */
  readonly cwd?: string;
  readonly place?: string;
}

/** How a run came to its end. */
export interface Ending {
  readonly stopReason: StopReason;
  /** The answer. Default: the last text the model wrote in this run. */
  readonly text?: string;
  /** True when no message of the conversation holds `text`: it is added as one, unless it is empty. */
  readonly addsText?: boolean;
  readonly output?: unknown;
  readonly limit?: BudgetLimit;
  readonly circle?: LoopCircle;
  readonly error?: NanoAgentError;
  /** See {@link RunResult}. */
  readonly detail?: string;
  /** Answered model requests. Default: those of this run itself. */
  readonly iterations?: number;
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
    this.name = "MaxIterationsError";
    this.result = result;
  }
}

/**
 * Thrown by `runOrThrow` and `sendMessage` for a run without an answer; carries everything it produced.
 * `code` is that of the run's error, `aborted` for a run that was stopped, else `incomplete`.
 */
export class RunError extends NanoAgentError {
  readonly result: RunResult;

  constructor(result: RunResult) {
    const { error, stopReason } = result;
    const code = error?.code ?? (stopReason === "aborted" ? "aborted" : "incomplete");
    super(code, `${whyWithoutAnswer(result)} ${HOW_TO_GO_ON[stopReason] ?? KEPT}`, {
      details: { ...error?.details, stopReason },
      ...defined({ cause: error, retryable: error?.retryable }),
    });
    this.name = "RunError";
    this.result = result;
  }
}

const KEPT = "The conversation is kept: run() without an input goes on with it.";

const HOW_TO_GO_ON: { readonly [reason in StopReason]?: string } = {
  awaiting_approval: "Answer with run(undefined, { approvals }).",
  awaiting_external: "Answer with a run whose input is the tool results.",
  budget: "Raise the budget; the conversation is kept, and run() without an input goes on with it.",
  output_limit: "Raise maxOutputTokens, or ask for less; the conversation is kept.",
  refusal: "Ask in other words; the conversation is kept.",
};

function whyWithoutAnswer({ error, stopReason, detail }: RunResult): string {
  // What a provider said may end without a full stop.
  if (error !== undefined) return error.message.replace(/[^\s.!?…。！？]$/u, "$&.");
  return `The run ended with ${stopReason}${detail === undefined ? "." : `: ${detail}`}`;
}
