import type { DecisionCode } from "../core/agent/gate.ts";
import type { ToolInput } from "../core/message/block.ts";

/** A question to a person about one tool call. Nothing in it is made safe for a terminal. */
export interface ApprovalQuestion {
  readonly callId: string;
  /** The call that this one was made by (`batch`, a subagent). */
  readonly parentCallId?: string;
  readonly tool: string;
  /** The subagent that makes the call; absent for a call of the conversation itself. */
  readonly agent?: string;
  readonly input: ToolInput;
  /** The part of the call that made it a question: one command of a line, or a path. */
  readonly part?: string;
  /** Every part that needs a yes, the most dangerous first; {@link part} is the first of them. */
  readonly parts?: readonly string[];
  /** Why it is asked about, in one sentence. */
  readonly reason: string;
  /** The same for programs. */
  readonly code?: DecisionCode;
  /** The working folder of the run. */
  readonly cwd: string;
  /** Where the call leads, links resolved. */
  readonly place?: string;
  /** The rule that `session` and `always` would add, as it would be kept. Absent: allowed once at most. */
  readonly rule?: string;
  /** A wider rule, which an answer with `wider` would add instead. Present only beside {@link rule}. */
  readonly wider?: string;
  /** True when `always` can be answered: there is a rule, and a place to write it down. */
  readonly canAlways: boolean;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * A person's answer. `once`: this call · `session`: what the rule describes, until the session ends ·
 * `always`: that, and the rule is written down; with `wider` it is the wider rule · `no`: refused, with a
 * reason for the model where there is one · `stop`: refused, and the run ends.
 */
export type ApprovalReply =
  | { readonly choice: "once" }
  | { readonly choice: "session" | "always"; readonly wider?: true }
  | { readonly choice: "no" | "stop"; readonly reason?: string };

/**
 * The port of whatever asks a person: a terminal, a screen, an editor. One question at a time. Rejecting, and
 * any reply that is not one of the known ones, refuses.
 */
export interface ApprovalPrompt {
  ask(question: ApprovalQuestion): Promise<ApprovalReply>;
  /** Tells the person what came of an answer: where a rule was written, or that it could not be. */
  tell(message: string): void;
}
