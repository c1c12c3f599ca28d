import { defined } from "../base/defined.ts";
import type { ToolResultBlock, UserBlock } from "../message/block.ts";
import type { Message, UserMessage } from "../message/message.ts";
import { repairTranscript } from "../message/transcript.ts";
import { refuseAsked } from "./open-calls.ts";
import type { RunBeginning } from "./plugin.ts";
import { type Recorder, type RunContext, record, remark } from "./run-context.ts";
import type { SessionState } from "./session-state.ts";

/** Records the conversation an agent was made with, unless the journal has one. Throws for the journal. */
export async function recordHistory(run: Recorder, history: readonly Message[]): Promise<void> {
  if (history.length === 0 || hasConversation(run.state)) return;
  await record(run, { type: "history", messages: history });
}

/** True when the journal has a conversation, be it one that was cleared. */
export function hasConversation({ isTouched, transcript }: SessionState): boolean {
  return isTouched || transcript.messages.length > 0;
}

/**
 * Records what a run starts from: `history` when the conversation is empty so far, that it begins or goes on,
 * what stands before the input, the input, which has been found to fit. Throws for the journal.
 */
export async function beginRun(
  run: RunContext,
  { messages, before }: RunBeginning,
  history: readonly Message[],
): Promise<void> {
  const { journal } = run;
  const { model, effort } = run.choice();
  await recordHistory(run, history);
  await record(run, {
    type: goesOn(run, messages) ? "run_resume" : "run_start",
    sessionId: journal.sessionId,
    model: `${model.provider}/${model.id}`,
    ...defined({ effort }),
    tools: run.tools.names(),
  });
  await recordInterruption(run);
  if (run.state.approvals.size > 0 && saysSomething(messages))
    await refuseAsked(run, new Set(resultsIn(messages).map((result) => result.tool_use_id)));
  for (const entry of before) await record(run, entry);
  if (isConversation(messages)) {
    await record(run, { type: "history", messages: repairTranscript(messages) });
    return;
  }
  for (const message of messages) await recordInput(run, message as UserMessage);
}

/** True when messages are a conversation with answers of the model, and not what somebody says now. */
export function isConversation(messages: readonly Message[]): boolean {
  return messages.some(({ role }, at) => role === "assistant" && at < messages.length - 1);
}

/** The answers to calls in messages. */
export function resultsIn(messages: readonly Message[]): readonly ToolResultBlock[] {
  return messages.flatMap(({ content }) => content.filter((block) => block.type === "tool_result"));
}

/**
 * True when this input goes on with the newest run, cut or waiting: it answers open calls at most. In a
 * journal of one run everything does.
 */
export function goesOn(
  { journal, state }: Pick<Recorder, "journal" | "state">,
  messages: readonly Message[],
): boolean {
  if (journal.holdsOneRun === true) return state.progress.hasBegun;
  return state.isUnfinished && !saysSomething(messages);
}

/** The remark for the model about an answer of its own that an abort has cut. */
const INTERRUPTED = "The answer above was interrupted before it was complete.";

/** Tells the model, before anything else is said, that its last answer was cut. */
export async function recordInterruption(run: Recorder): Promise<void> {
  if (run.state.isInterrupted) await remark(run, INTERRUPTED, { code: "interrupted" });
}

/** True when messages hold more than answers to open calls. */
export function saysSomething(messages: readonly Message[]): boolean {
  return messages.some(({ content }) => content.some(({ type }) => type !== "tool_result"));
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
