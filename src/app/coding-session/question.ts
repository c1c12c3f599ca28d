import type { Json } from "../../core/base/errors.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { ToolInput } from "../../core/message/block.ts";
import type { FileDiff } from "./file-diff.ts";

/** The answers a person can give to a question. `stop` refuses and ends the run. */
export type AnswerChoice = "once" | "session" | "always" | "no" | "stop";

/** An answer that a question offers. */
export interface OfferedChoice {
  readonly choice: AnswerChoice;
  /** The rule that the answer would add, exactly as it would be kept. */
  readonly rule?: string;
  /** The file that the rule would be written to. */
  readonly savedTo?: string;
}

/** A part of a call that needs a yes: one command of a line, or a path. */
export interface QuestionPart {
  readonly text: string;
  /** Why it is asked about; absent where the reason of the question says it. */
  readonly reason?: string;
  /** The narrowest rule that would allow it. */
  readonly rule?: string;
}

/** Something a person is asked while a run waits. Nothing in it is made safe for a terminal. */
export interface Question {
  /** Names it in {@link import("./coding-session.ts").CodingSession.answer}. */
  readonly id: string;
  /** `permission`: may this call run? `elicitation`: a value for `schema`. `choice`: one of `options`. */
  readonly type: "permission" | "elicitation" | "choice";
  /** When it was asked, in milliseconds since the epoch. */
  readonly time: number;
  readonly callId?: string;
  /** The subagent that asks; absent for the conversation itself. */
  readonly agent?: string;
  readonly tool?: string;
  readonly input?: ToolInput;
  /** Why it is asked, in one sentence; what is asked for, where it is no question about a call. */
  readonly reason: string;
  /** The parts that need a yes, most dangerous first. */
  readonly parts?: readonly QuestionPart[];
  /** The changes the call would make, for `write` and `edit`. */
  readonly diff?: FileDiff;
  /** The answers it takes, of one kind the narrowest rule first. Empty where a value is asked for. */
  readonly choices: readonly OfferedChoice[];
  /** The values to choose from, for `choice`. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  /** The form of the value, for `elicitation`. */
  readonly schema?: JsonSchema;
}

/**
 * A person's answer to a question. A `reason` of a refusal reaches the model; `rule` must be one the question
 * offers. `value` answers what is no question about a call; without one (`choice: "no"`) it is refused.
 */
export type QuestionReply =
  | { readonly choice: AnswerChoice; readonly reason?: string; readonly rule?: string }
  | { readonly value: Json };

/** A question for a value or a choice as it is asked: its id and time are given by the session. */
export type NewQuestion = Omit<Question, "id" | "time" | "choices">;

/** Hears of a question. The signal is aborted when nobody waits for the answer any more. */
export type QuestionListener = (question: Question, signal: AbortSignal) => void | Promise<void>;
