import type { Tool, ToolAccess } from "../tool/tool.ts";
import type { NewEntry } from "./entry.ts";

/** A call that is about to run, or has ended. */
export interface CheckpointedCall {
  readonly callId: string;
  readonly tool: Tool;
  /** The name the model called it by. */
  readonly name: string;
  /** The places the call touches. */
  readonly access: ToolAccess;
}

/**
 * The port that keeps what tool calls change, so that it can be put back. Every call that runs passes it,
 * those inside other calls and in nested runs too; calls overlap as the loop lets them.
 */
export interface Checkpointer {
  /** Keeps what the call may change. When it throws, the call does not run and its result says why. */
  before(call: CheckpointedCall): Promise<void>;
  /**
   * Finds what the call changed, however it ended. Resolves to the entries that record it, to be stored
   * before the result of the call. What it throws becomes a `warning` event.
   */
  after(call: CheckpointedCall): Promise<readonly NewEntry[]>;
}
