import type { ToolInput } from "../message/block.ts";
import type { DecisionCode } from "./gate.ts";

/** A call that waits for somebody outside the run. */
export interface PendingCall {
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  /** `approval`: may it run? · `result`: the caller runs it and passes its `tool_result`. */
  readonly waitsFor: "approval" | "result";
  /** Why it is asked. This and what follows: for `approval` only. */
  readonly reason?: string;
  /** The same for programs: the code of the gate. */
  readonly code?: DecisionCode;
  /** The part of the call that is in question. */
  readonly part?: string;
  /** The rule that asks. */
  readonly rule?: string;
  /** The narrowest rule that would allow it. */
  readonly suggestion?: string;
}
