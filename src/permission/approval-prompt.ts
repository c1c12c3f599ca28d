import type { GateDecision } from "../core/agent/ports.ts";
import type { DecisionCode } from "../core/agent/result.ts";
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
  /** Why it is asked about, in one sentence. */
  readonly reason: string;
  /** The same for programs. */
  readonly code?: DecisionCode;
  /** The working folder of the run. */
  readonly cwd: string;
  /** Where the call leads, links resolved. */
  readonly place?: string;
  /** The place, when a file tool leads outside the workspace. */
  readonly outside?: string;
  /** Where a command would run. */
  readonly runs?: GateDecision["runs"];
  /** The rule that `always` would add, exactly as it would be saved. Absent: `always` is not offered. */
  readonly rule?: string;
  /** True when `edits` is offered: a change inside the workspace that only the mode asks about. */
  readonly offersEdits: boolean;
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/**
 * A person's answer. `once`: this call · `edits`: it, and every edit inside the workspace until the session
 * ends · `always`: it, and the rule is saved · `no`: refused, with a reason for the model if there is one ·
 * `stop`: refused, and the run ends. `fails`: no one was asked, for the call can only end with this error.
 */
export type ApprovalReply =
  | { readonly choice: "once" | "edits" | "always" }
  | { readonly choice: "no" | "stop"; readonly reason?: string }
  | { readonly choice: "fails"; readonly error: string };

/**
 * The port of whatever asks a person: a terminal, a screen, an editor. One question at a time. Rejecting, and
 * any reply that is not one of the known ones, refuses.
 */
export interface ApprovalPrompt {
  ask(question: ApprovalQuestion): Promise<ApprovalReply>;
  /** Tells the person what came of an answer: where a rule was written, or that it could not be. */
  tell(message: string): void;
}
