import { isConversation, resultsIn, saysSomething } from "../core/agent/begin-run.ts";
import type { Approvals } from "../core/agent/gate.ts";
import { isExternal, pendingCalls } from "../core/agent/open-calls.ts";
import type { PendingCall } from "../core/agent/result.ts";
import type { SessionState } from "../core/agent/session-state.ts";
import { misuse } from "../core/base/errors.ts";
import type { ToolResultBlock } from "../core/message/block.ts";
import { type Message, toolCallsOf } from "../core/message/message.ts";
import type { ToolRegistry } from "../core/tool/registry.ts";

/** A request for a run, as far as it decides whether the run can begin. */
export interface RunRequest {
  readonly messages: readonly Message[];
  readonly approvals: Approvals | undefined;
  readonly tools: ToolRegistry;
  readonly history: readonly Message[];
  readonly hasSteering: boolean;
  readonly isRunning: boolean;
}

/**
 * Throws `invalid_argument` while another run is at work, for approvals of nothing, for results of calls that
 * are not open, for a run that leaves open calls unanswered, and for one with nothing to answer.
 */
export function assertRunnable(state: SessionState, request: RunRequest): void {
  const { messages, approvals, tools, history, hasSteering } = request;
  if (request.isRunning)
    throw misuse("This agent is already running: steer() it, wait, or use a second agent.");
  assertApprovals(state, approvals, saysSomething(messages));
  if (!isConversation(messages)) assertOpen(state, resultsIn(messages));
  if (messages.length > 0) return;
  // One that was cut goes on with the calls that can run, and then waits for the others.
  if (state.isWaiting) assertAnswered(state, tools, approvals);
  if (!hasSteering) assertResumable(state, history);
}

/**
 * Throws `invalid_argument` unless it is the model's turn, or the run has only to end; `history` counts where
 * nothing else is there.
 */
function assertResumable({ transcript, progress }: SessionState, history: readonly Message[] = []): void {
  const last = transcript.messages.at(-1) ?? history.at(-1);
  if (last?.role === "user" || transcript.hasPending) return;
  // The run was cut behind its answer, and has only to end.
  if (progress.isOpen && progress.answer !== undefined) return;
  throw misuse("There is nothing for the model to answer: pass an input.");
}

/** Throws `invalid_argument` for a run that brings no answer while calls wait for one. */
function assertAnswered(state: SessionState, tools: ToolRegistry, approvals: Approvals = {}): void {
  if (Object.keys(approvals).length > 0) return;
  const open = pendingCalls(state).filter(
    ({ name, waitsFor }) => waitsFor === "approval" || isExternal(tools, name),
  );
  if (open.length === 0) return;
  throw misuse(
    `Tool calls wait for your answer: ${open.map(describe).join(", ")}. Pass ${howToAnswer(open)}.`,
  );
}

/** Throws `invalid_argument` for an answer to a call that does not wait, and for answers beside a message. */
function assertApprovals(state: SessionState, approvals: Approvals | undefined, hasInput: boolean): void {
  const ids = Object.keys(approvals ?? {});
  if (ids.length === 0) return;
  const answered = answeredCalls(state);
  const unknown = ids.filter((id) => !state.approvals.has(id) && !answered.has(id));
  if (unknown.length > 0) {
    const open = [...state.approvals.values()].map(describe).join(", ");
    throw misuse(
      `approvals answers ${unknown.map((id) => JSON.stringify(id)).join(", ")}, which does not wait for approval. Waiting: ${open === "" ? "none" : open}.`,
    );
  }
  if (!hasInput) return;
  throw misuse(
    "approvals and a message: a message closes the calls that wait. Pass the approvals alone, and steer() for what is to be said.",
  );
}

/**
 * The calls of the newest answer that are decided, or run, or have run. An answer about them changes nothing:
 * whoever keeps answers may give them again.
 */
function answeredCalls(state: SessionState): ReadonlySet<string> {
  const { messages, pending } = state.transcript;
  const answer = messages.findLast(({ role }) => role === "assistant");
  const calls = new Set(answer === undefined ? [] : toolCallsOf(answer).map(({ id }) => id));
  for (const { id } of pending) if ((state.intent(id) ?? state.decision(id)) === undefined) calls.delete(id);
  return calls;
}

function describe({ name, callId }: { readonly name: string; readonly callId: string }): string {
  return `${name} (${callId})`;
}

function howToAnswer(open: readonly PendingCall[]): string {
  const ways = [
    ...(open.some(({ waitsFor }) => waitsFor === "approval")
      ? ["approvals: { [callId]: true } as an option"]
      : []),
    ...(open.some(({ waitsFor }) => waitsFor === "result") ? ["their tool_result blocks as input"] : []),
  ];
  return ways.join(", or ");
}

/** Throws `invalid_argument` for a result of a call that is not open, or a second one of the same call. */
function assertOpen({ transcript }: SessionState, results: readonly ToolResultBlock[]): void {
  const open = new Set(transcript.pending.map(({ id }) => id));
  for (const { tool_use_id: id } of results) {
    if (open.delete(id)) continue;
    const ids = transcript.pending.map((call) => call.id).join(", ") || "none";
    throw misuse(`The input answers the tool call "${id}", which is not open. Open calls: ${ids}.`);
  }
}
