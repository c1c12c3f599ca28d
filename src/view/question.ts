import type { Json } from "../core/base/errors.ts";
import type { JsonSchema } from "../core/base/schema.ts";
import type { ToolInput } from "../core/message/message.ts";
import type { FileDiff } from "./file-diff.ts";

/**
 * The answers a person can give to a question. `edits` allows all edits inside the workspace until the
 * session ends, `always` saves a rule for this folder, `stop` refuses and ends the run.
 */
export type AnswerChoice = "once" | "edits" | "always" | "no" | "stop";

/** An answer that a question offers. */
export interface OfferedChoice {
  readonly choice: AnswerChoice;
  /** The rule that `always` would add for this folder, exactly as saved. */
  readonly rule?: string;
}

/** A question to a person while a run waits. Its text is not made safe for a terminal. */
export interface Question {
  /** Identifies it in {@link import("../coding/session/coding-session.ts").CodingSession.answer}. */
  readonly id: string;
  /**
   * `permission`: may this call run? `elicitation`: a value for `schema`; for `ask_user` an answer to each of
   * its questions, each optional. `choice`: one of `options`; for `present_plan` the mode to begin in, or
   * `no` with what to change, or `stop` to keep planning.
   */
  readonly type: "permission" | "elicitation" | "choice";
  /** When it was asked, in milliseconds since the epoch. */
  readonly time: number;
  readonly callId?: string;
  /** The subagent that asks; absent for the conversation itself. */
  readonly agent?: string;
  readonly tool?: string;
  readonly input?: ToolInput;
  /**
   * Why it is asked; empty if only because the mode asks about every call of this kind. For questions that
   * are not about a call: what is asked for.
   */
  readonly reason: string;
  /** Where the command would run: confined, confined with network access, or unconfined. */
  readonly runs?: "inside" | "network" | "outside";
  /** The path outside the workspace that a file tool would reach, with links resolved. */
  readonly outside?: string;
  /** The changes the call would make, for `write` and `edit`. */
  readonly diff?: FileDiff;
  /** The answers it accepts. Empty if a value is asked for. */
  readonly choices: readonly OfferedChoice[];
  /** The values to choose from, for `choice`. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  /** The form of the value, for `elicitation`. */
  readonly schema?: JsonSchema;
}

/**
 * A person's answer to a question. The `reason` for a refusal reaches the model; `rule` must be the one the
 * question offers. `value` answers questions that are not about a call; `choice: "no"` without a value
 * refuses them.
 */
export type QuestionReply =
  | { readonly choice: AnswerChoice; readonly reason?: string; readonly rule?: string }
  | { readonly value: Json };

/** A question for a value or a choice before the session assigns its id and time. */
export type NewQuestion = Omit<Question, "id" | "time" | "choices">;

/** The questions a listener takes. */
export interface QuestionScope {
  /** False: only those about calls, answered with yes or no. Default true. */
  readonly values?: boolean;
}

/** Receives a question. The signal aborts when the answer is no longer needed. */
export type QuestionListener = (question: Question, signal: AbortSignal) => void | Promise<void>;
