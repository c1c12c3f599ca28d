import type { Message } from "../message/message.ts";
import { hasBegun } from "./begin-run.ts";
import type { SessionState } from "./session-state.ts";

/** What {@link import("./agent.ts").Agent.getState} tells. */
export interface AgentState {
  readonly messages: readonly Message[];
  readonly totalTokens: { readonly input: number; readonly output: number };
  /** USD over all runs; `undefined` when a price is unknown. */
  readonly totalCost: number | undefined;
}

/** The conversation, which `history` begins where nothing is recorded yet, and what it has used up so far. */
export function agentState(state: SessionState, history: readonly Message[]): AgentState {
  const { usage, costUsd } = state.session;
  return {
    messages: (hasBegun(state) ? state.transcript.messages : history).slice(),
    totalTokens: { input: usage.inputTokens, output: usage.outputTokens },
    totalCost: costUsd,
  };
}
