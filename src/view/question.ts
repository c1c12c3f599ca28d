import type { Json } from "../core/base/errors.ts";
import type { JsonSchema } from "../core/base/schema.ts";
import type { ToolInput } from "../core/message/message.ts";
import type { FileDiff } from "./file-diff.ts";

/**
 * The answers a person can give to a question. `edits` allows every edit inside the workspace until the
 * session ends, `always` saves a rule for this folder, `stop` refuses and ends the run.
 */
export type AnswerChoice = "once" | "edits" | "always" | "no" | "stop";

/** An answer that a question offers. */
export interface OfferedChoice {
  readonly choice: AnswerChoice;
  /** The rule that `always` would add for this folder, exactly as it would be saved. */
  readonly rule?: string;
}

/** Something a person is asked while a run waits. Nothing in it is made safe for a terminal. */
export interface Question {
  /** Names it in {@link import("../coding/session/coding-session.ts").CodingSession.answer}. */
  readonly id: string;
  /**
   * `permission`: may this call run? `elicitation`: a value for `schema`; of `ask_user` an answer to each of
   * its questions, which may be left out. `choice`: one of `options`; of `present_plan` the mode to begin in,
   * or `no` with what to change, or `stop` to go on planning.
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
   * Why it is asked, when it is more than the mode asking about every call of the kind: else empty. What is
   * asked for, where it is no question about a call.
   */
  readonly reason: string;
  /** Where the command would run: confined, confined with the network, or not confined. */
  readonly runs?: "inside" | "network" | "outside";
  /** The place outside the workspace that a file tool would reach, links resolved. */
  readonly outside?: string;
  /** The changes the call would make, for `write` and `edit`. */
  readonly diff?: FileDiff;
  /** The answers it takes. Empty where a value is asked for. */
  readonly choices: readonly OfferedChoice[];
  /** The values to choose from, for `choice`. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  /** The form of the value, for `elicitation`. */
  readonly schema?: JsonSchema;
}

/**
 * A person's answer to a question. A `reason` of a refusal reaches the model; `rule` must be the one the
 * question offers. `value` answers what is no question about a call; without one (`choice: "no"`) it is
 * refused.
 */
export type QuestionReply =
  | { readonly choice: AnswerChoice; readonly reason?: string; readonly rule?: string }
  | { readonly value: Json };

/** A question for a value or a choice as it is asked: its id and time are given by the session. */
export type NewQuestion = Omit<Question, "id" | "time" | "choices">;

/** Which questions a listener takes. */
export interface QuestionScope {
  /** False: those about calls, that a yes or no answers. Default true. */
  readonly values?: boolean;
}

/** Hears of a question. The signal is aborted when the answer is no longer needed. */
export type QuestionListener = (question: Question, signal: AbortSignal) => void | Promise<void>;
