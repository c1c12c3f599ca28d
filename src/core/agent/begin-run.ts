import { NanoAgentError } from "../base/errors.ts";
import type { ToolResultBlock, UserBlock } from "../message/block.ts";
import { type Message, type UserMessage, userMessage } from "../message/message.ts";
import { repairTranscript } from "../message/transcript.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import type { NewEntry } from "./entry.ts";
import type { Approvals } from "./gate.ts";
import { assertAnswered, assertApprovals, refuseAsked } from "./open-calls.ts";
import { type Recorder, type RunContext, record } from "./run-context.ts";
import type { SessionState } from "./session-state.ts";

/** What stands before the input of a run. */
export interface BeforeInput {
  /** Conversation to start from when there is none yet. */
  readonly history?: readonly Message[] | undefined;
  /** What was found in the long-term memory. */
  readonly recalled?: NewEntry | undefined;
}

/** Records the conversation an agent was made with, which can be sent as it is, unless the journal has one already. Throws for the journal. */
export async function recordHistory(run: Recorder, history: readonly Message[] = []): Promise<void> {
  if (history.length === 0 || hasBegun(run.state)) return;
  await record(run, { type: "history", messages: history });
}

/** Whether the journal has a conversation, be it one that was cleared. */
export function hasBegun({ isTouched, transcript }: SessionState): boolean {
  return isTouched || transcript.messages.length > 0;
}

/**
 * Records what a run starts from: `history` when the conversation is empty so far, that it begins or goes on, what was recalled, the
 * input, which `assertRunnable` has passed. Throws for the journal.
 */
export async function beginRun(
  run: RunContext,
  messages: readonly Message[],
  { history, recalled }: BeforeInput = {},
): Promise<void> {
  const { journal } = run;
  const { model, effort } = run.choice();
  if (history !== undefined) await recordHistory(run, history);
  await record(run, {
    type: goesOn(run.state, messages) ? "run_resume" : "run_start",
    sessionId: journal.sessionId,
    model: `${model.provider}/${model.id}`,
    ...(effort === undefined ? {} : { effort }),
    tools: run.tools.names(),
  });
  await recordInterruption(run);
  if (run.state.approvals.size > 0 && saysSomething(messages))
    await refuseAsked(run, new Set(resultsIn(messages).map((result) => result.tool_use_id)));
  if (recalled !== undefined) await record(run, recalled);
  if (isConversation(messages)) {
    await record(run, { type: "history", messages: repairTranscript(messages) });
    return;
  }
  for (const message of messages) await recordInput(run, message as UserMessage);
}

/** Whether messages are a conversation of their own, with answers of the model, and not what somebody says now. */
function isConversation(messages: readonly Message[]): boolean {
  return messages.some(({ role }, at) => role === "assistant" && at < messages.length - 1);
}

function resultsIn(messages: readonly Message[]): readonly ToolResultBlock[] {
  return messages.flatMap(({ content }) => content.filter((block) => block.type === "tool_result"));
}

/** Whether a run with this input is the newest one, which was cut or waits: it brings answers to open calls at most. */
export function goesOn(state: SessionState, messages: readonly Message[]): boolean {
  return state.isUnfinished && !saysSomething(messages);
}

/** What the model is told about an answer of its own that an abort has cut. */
const INTERRUPTED = "The answer above was interrupted before it was complete.";

/** Tells the model, before anything else is said, that its last answer was cut. */
export async function recordInterruption(run: Recorder): Promise<void> {
  if (!run.state.isInterrupted) return;
  await record(run, {
    type: "user_message",
    message: userMessage(INTERRUPTED),
    source: "system",
    code: "interrupted",
  });
}

/** What a run is asked for, as far as it decides whether the run can begin. */
export interface RunRequest {
  readonly messages: readonly Message[];
  readonly approvals: Approvals | undefined;
  readonly tools: ToolRegistry;
  readonly history: readonly Message[];
  readonly hasSteering: boolean;
  readonly isRunning: boolean;
}

/**
 * Throws `invalid_argument` while another run is at work, for approvals of nothing, for results of calls that are not open, for a run
 * that leaves open calls unanswered, and for one with nothing to answer.
 */
export function assertRunnable(state: SessionState, request: RunRequest): void {
  const { messages, approvals, tools, history, hasSteering } = request;
  if (request.isRunning)
    throw new NanoAgentError(
      "invalid_argument",
      "This agent is already running: steer() it, wait, or use a second agent.",
    );
  assertApprovals(state, approvals, saysSomething(messages));
  if (!isConversation(messages)) assertOpen(state, resultsIn(messages));
  if (messages.length > 0) return;
  assertAnswered(state, tools, approvals);
  if (!hasSteering) assertResumable(state, history);
}

/** Throws `invalid_argument` unless it is the model's turn in the conversation, which `history` begins when nothing else is there. */
function assertResumable({ transcript }: SessionState, history: readonly Message[] = []): void {
  const last = transcript.messages.at(-1) ?? history.at(-1);
  if (last?.role === "user" || transcript.hasPending) return;
  throw new NanoAgentError("invalid_argument", "There is nothing for the model to answer: pass an input.");
}

/** Whether messages hold more than answers to open calls. */
export function saysSomething(messages: readonly Message[]): boolean {
  return messages.some(({ content }) => content.some(({ type }) => type !== "tool_result"));
}

/** Throws `invalid_argument` for a result of a call that is not open, or a second one of the same call. */
function assertOpen({ transcript }: SessionState, results: readonly ToolResultBlock[]): void {
  const open = new Set(transcript.pending.map(({ id }) => id));
  for (const { tool_use_id: id } of results) {
    if (open.delete(id)) continue;
    const ids = transcript.pending.map((call) => call.id).join(", ") || "none";
    throw new NanoAgentError(
      "invalid_argument",
      `The input answers the tool call "${id}", which is not open. Open calls: ${ids}.`,
    );
  }
}

/** Answers to open calls go to their calls, the rest is a message. */
async function recordInput(run: RunContext, message: UserMessage): Promise<void> {
  const results = resultsIn([message]);
  for (const result of results) {
    const callId = result.tool_use_id;
    const name = run.state.transcript.pending.find(({ id }) => id === callId)?.name ?? "";
    const status = result.is_error === true ? "error" : "ok";
    await record(run, { type: "tool_result", callId, name, status, result, durationMs: 0 });
  }
  const content: readonly UserBlock[] =
    results.length === 0 ? message.content : message.content.filter(({ type }) => type !== "tool_result");
  if (content.length > 0)
    await record(run, { type: "user_message", message: { ...message, content }, source: "input" });
}
