import { isNanoAgentError, NanoAgentError, toNanoAgentError } from "../base/errors.ts";
import { omitUndefined } from "../base/json.ts";
import { isWaiting } from "../base/stop-reason.ts";
import { truncateEnd } from "../base/text.ts";
import {
  type AssistantMessage,
  assistantMessage,
  type ContentBlock,
  type Message,
  messageText,
  type ToolResultBlock,
  type ToolUseBlock,
  type UserBlock,
  type UserMessage,
} from "../message/message.ts";
import { repairTranscript } from "../message/transcript.ts";
import type { BudgetLimit, SharedBudget } from "../model/budget.ts";
import { toolCalledInText } from "../model/call-markup.ts";
import type { FinishReason, Model } from "../model/model.ts";
import type { Finish } from "../tool/tool.ts";
import { refusePendingQuestions } from "./approvals.ts";
import { fillsWindow } from "./model-turn.ts";
import type { Answer, RunBeginning } from "./ports.ts";
import { type Ending, MaxIterationsError, type RunResult } from "./result.ts";
import { applyPlugins, type Recorder, type Run, record, recordSystemMessage } from "./run.ts";
import { MAX_UNREADABLE, pendingCalls, type SessionState } from "./state.ts";

export function describeBudgetLimit(run: Run, limit: BudgetLimit): string {
  const { usd = 0, tokens = 0, wallTimeMs = 0, shared } = run.settings.budget;
  const { usage, costUsd } = run.state.session;
  if (limit === "wall_time") return describeWallTimeLimit(wallTimeMs);
  if (limit === "tokens") {
    const spent = usage.inputTokens + usage.outputTokens;
    return describeSpent(`${spent} of ${tokens} tokens are spent in this session`, spent >= tokens);
  }
  if (shared !== undefined && isTighter(run, shared))
    return `Of the $${formatUsd(shared.usd)} shared with other runs, what is left does not cover the next request.`;
  if (costUsd === undefined)
    return `How much of the session's $${usd} is spent is unknown: an answer came from a model without a known price.`;
  return describeSpent(
    `$${formatUsd(costUsd)} of $${formatUsd(usd)} is spent in this session`,
    costUsd >= usd,
  );
}

function describeSpent(spent: string, isAll: boolean): string {
  return isAll ? `${spent}.` : `${spent}, and what is left does not cover the next request.`;
}

function isTighter(run: Run, shared: SharedBudget): boolean {
  const { usd = Number.POSITIVE_INFINITY } = run.settings.budget;
  return shared.usd - shared.spentUsd <= usd - (run.state.session.costUsd ?? 0);
}

export function describeWallTimeLimit(wallTimeMs: number): string {
  return `The run reached its time limit of ${wallTimeMs} ms.`;
}

/** Dollars: small amounts with three significant digits, others with two decimals. */
function formatUsd(usd: number): string {
  return usd >= 1 ? usd.toFixed(2) : usd.toPrecision(3).replace(/\.?0+$/, "");
}

export interface RunInput {
  readonly messages: readonly Message[];
  /** The conversation to start from if the journal has none. */
  readonly history: readonly Message[];
}

/**
 * A run from input to result, inside its plugins; `conduct` does the work in between. A plugin that fails
 * ends the run with `error`; the journal keeps the ending it had until then. Rejects with what `conduct`
 * throws, and when the journal fails.
 */
export async function perform(
  run: Run,
  { messages, history }: RunInput,
  conduct: (run: Run) => Promise<RunResult>,
): Promise<RunResult> {
  const given: RunBeginning = { messages, before: [] };
  let beginning = given;
  try {
    beginning = await applyPlugins(run.shared.plugins, given, (plugin, made) =>
      plugin.beforeRun?.(run, made),
    );
  } catch (error) {
    await beginRun(run, given, history);
    if (run.signal.aborted) return conduct(run);
    return endRun(run, { stopReason: "error", error: toNanoAgentError(error) });
  }
  await beginRun(run, beginning, history);
  return afterRun(run, await conduct(run), beginning);
}

async function afterRun(run: Run, ended: RunResult, beginning: RunBeginning): Promise<RunResult> {
  let result = ended;
  for (const plugin of run.shared.plugins) {
    try {
      result = (await plugin.afterRun?.(run, result, beginning)) ?? result;
    } catch (error) {
      if (run.signal.aborted) result = { ...result, ...abortEnding(run.signal) } as RunResult;
      else result = { ...result, stopReason: "error", error: toNanoAgentError(error) };
    }
    result = withFailure(run, result);
  }
  return result;
}

function withFailure({ shared }: Run, result: RunResult): RunResult {
  const { error } = shared.failure;
  return error === undefined || result.error !== undefined
    ? result
    : { ...result, stopReason: "error", error };
}

/** Records the conversation an agent was created with, unless the journal has one. Throws if it fails. */
export async function recordHistory(run: Recorder, history: readonly Message[]): Promise<void> {
  if (history.length === 0 || hasConversation(run.state)) return;
  await record(run, { type: "history", messages: history });
}

/** True if the journal has a conversation, even one that was cleared. */
export function hasConversation({ isTouched, transcript }: SessionState): boolean {
  return isTouched || transcript.messages.length > 0;
}

/**
 * Records what a run starts from: `history` if the conversation is empty, the start or resume, the entries
 * before the input, and the input, which was validated. Throws when the journal fails.
 */
export async function beginRun(
  run: Run,
  { messages, before }: RunBeginning,
  history: readonly Message[],
): Promise<void> {
  const { journal } = run;
  const { model, effort } = run.model();
  await recordHistory(run, history);
  await record(run, {
    type: isContinuation(run, messages) ? "run_resume" : "run_start",
    sessionId: journal.sessionId,
    model: `${model.provider}/${model.id}`,
    ...omitUndefined({ effort }),
    tools: run.tools.names(),
  });
  await recordInterruption(run);
  if (run.state.approvals.size > 0 && hasNewInput(messages))
    await refusePendingQuestions(run, new Set(resultsIn(messages).map((result) => result.tool_use_id)));
  for (const entry of before) await record(run, entry);
  if (isConversation(messages)) {
    await record(run, { type: "history", messages: repairTranscript(messages) });
    return;
  }
  for (const message of messages) await recordInput(run, message as UserMessage);
}

/** True if the messages are a conversation with answers of the model rather than new input. */
export function isConversation(messages: readonly Message[]): boolean {
  return messages.some(({ role }, at) => role === "assistant" && at < messages.length - 1);
}

export function resultsIn(messages: readonly Message[]): readonly ToolResultBlock[] {
  return messages.flatMap(({ content }) => content.filter((block) => block.type === "tool_result"));
}

/**
 * True if this input resumes the newest run, which was cut or waits: it holds nothing but answers to open
 * calls. In a journal of one run every input does.
 */
export function isContinuation(
  { journal, state }: Pick<Recorder, "journal" | "state">,
  messages: readonly Message[],
): boolean {
  if (journal.holdsOneRun === true) return state.progress.hasBegun;
  return state.isUnfinished && !hasNewInput(messages);
}

const INTERRUPTED = "The answer above was interrupted before it was complete.";

/** Tells the model that its last answer was cut, before anything else is said. */
export async function recordInterruption(run: Recorder): Promise<void> {
  if (run.state.isInterrupted) await recordSystemMessage(run, INTERRUPTED, { code: "interrupted" });
}

/** True if the messages hold more than answers to open calls. */
export function hasNewInput(messages: readonly Message[]): boolean {
  return messages.some(({ content }) => content.some(({ type }) => type !== "tool_result"));
}

/** Records answers to open calls as their results, and the rest as a message. */
async function recordInput(run: Run, message: UserMessage): Promise<void> {
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

export function budgetEnding(run: Run, limit: BudgetLimit): Ending {
  return { stopReason: "budget", limit, detail: describeBudgetLimit(run, limit) };
}

/** The ending of an aborted run. A wall-time limit aborts with a `timeout` error that says so. */
export function abortEnding({ reason }: Pick<AbortSignal, "reason">): Ending {
  if (!isNanoAgentError(reason, "timeout")) return { stopReason: "aborted" };
  return { stopReason: "budget", limit: "wall_time", detail: reason.message };
}

/** How often the model may answer in text when it must call a finish tool. */
export const MAX_FINISH_REMINDERS = 3;

export function finishEnding(run: Run, { text, output }: Finish): Ending {
  if (run.until.finishTool !== undefined && output !== undefined)
    return { stopReason: "structured_output", text, output };
  return { stopReason: "finish_tool", text, ...omitUndefined({ output }) };
}

export function isAbnormalFinish(finish: FinishReason): boolean {
  return ["length", "refusal", "error"].includes(finish.unified);
}

function fullWindowDetail({ model, state }: Run): Pick<Ending, "detail"> {
  const used = state.measured?.tokens;
  const { model: asked } = model();
  if (used === undefined || !fillsWindow(asked, used)) return {};
  const window = asked.info?.contextWindow;
  return { detail: `The context window of ${window} tokens is full: the conversation takes ${used}.` };
}

export function answerEnding(run: Run, { finishReason, message }: Answer): Ending {
  const text = messageText(message);
  const { unified, raw, detail } = finishReason;
  if (unified === "length") return { stopReason: "output_limit", text, ...fullWindowDetail(run) };
  if (unified === "refusal") return { stopReason: "refusal", text, ...omitUndefined({ detail }) };
  if (unified === "error" || (unified === "other" && text === "" && raw !== ""))
    return { stopReason: "error", text, error: unusableFinishError(run.model().model, finishReason) };
  return { stopReason: "completed", text };
}

function unusableFinishError({ provider, id }: Model, { raw, detail }: FinishReason): NanoAgentError {
  const said = detail === undefined ? "." : `: ${detail}`;
  return new NanoAgentError(
    "provider_error",
    `${provider} ended the answer of ${id} with ${JSON.stringify(raw)}${said} Run again without an input to continue, or rephrase the request.`,
    { details: { provider, model: id, finishReason: raw }, retryable: true },
  );
}

export function finishToolNotCalledError(tool: string): NanoAgentError {
  return new NanoAgentError(
    "invalid_response",
    `The model never delivered the value: it answered in text ${MAX_FINISH_REMINDERS + 1} times instead of calling ${tool}. Try a model that follows tool calls, or a simpler schema.`,
    { details: { neverCalled: tool } },
  );
}

export function unreadableCallsError(calls: readonly ToolUseBlock[]): NanoAgentError {
  const { name = "", invalid_input } = calls.at(-1) ?? {};
  const sent = truncateEnd(invalid_input?.raw ?? "", 500);
  return new NanoAgentError(
    "invalid_response",
    `In ${MAX_UNREADABLE} answers in a row the arguments of the calls were not JSON. The last ones, of ${name}: ${sent} Try a model that follows tool calls, or a higher output limit if they were cut.`,
    { details: { tool: name, sent } },
  );
}

/**
 * Records the ending and makes the result. Throws when the journal fails and for `onMaxIterations: "throw"`.
 */
export async function endRun(run: Run, ending: Ending): Promise<RunResult> {
  const { text = "" } = ending;
  if (ending.addsText === true && text.trim() !== "")
    await record(run, { type: "history", messages: [assistantMessage(text)] });
  await recordEnd(run, { ...ending, iterations: ending.iterations ?? run.state.progress.iterations });
  const result = resultOf(run, ending);
  if (ending.stopReason === "max_iterations" && run.until.onMaxIterations === "throw") {
    throw new MaxIterationsError(run.until.maxIterations, result);
  }
  return result;
}

export async function recordEnd(
  run: Recorder,
  { stopReason, iterations, error, limit, circle, detail }: Ending & { readonly iterations: number },
): Promise<void> {
  const failed = error === undefined ? undefined : { code: error.code, message: error.message };
  await record(run, {
    type: "run_end",
    stopReason,
    iterations,
    ...omitUndefined({ error: failed, limit, circle, detail }),
  });
}

export function resultOf(run: Run, ending: Ending): RunResult {
  const { state } = run;
  const { output, stopReason, limit, circle, error, detail } = ending;
  const pending = isWaiting(stopReason) ? pendingCalls(state) : undefined;
  // Safe: whoever ends a run with `error` or `structured_output` sets its fields.
  return {
    text: ending.text ?? state.progress.lastText,
    ...omitUndefined({ output, stopReason, limit, circle, error, detail, pending }),
    iterations: ending.iterations ?? Math.min(state.progress.iterations, run.until.maxIterations),
    messages: state.transcript.messages.slice(),
    usage: state.run.usage,
    cost: state.run.costUsd,
    sessionId: run.journal.sessionId,
  } as RunResult;
}

/** The ending of `result`, with another text if given. */
export function endingOf(result: RunResult, text: string = result.text): Ending {
  const { stopReason, output, limit, circle, error, detail } = result;
  return { stopReason, text, ...omitUndefined({ output, limit, circle, error, detail }) };
}

const EMPTY_ANSWER =
  "Your last answer was empty. Continue the task; if it is done, say what you did and found.";

/**
 * Checks an answer that would end the run without any outcome: an empty one right after tool results, or a
 * tool call written as text. `again`: the model was told, once · an error: it cannot continue.
 */
export async function checkFinalAnswer(
  run: Run,
  message: AssistantMessage,
): Promise<"again" | NanoAgentError | undefined> {
  const text = messageText(message);
  if (text.trim() !== "") {
    const names = run.tools.specs().map(({ name }) => name);
    const called = toolCalledInText(text, names);
    return called === undefined ? undefined : callAsTextError(run.model().model, called);
  }
  // An answer without blocks is not among the messages.
  const before = run.state.transcript.messages.findLast(({ role }) => role === "user");
  if (before === undefined) return undefined;
  if (messageText(before) === EMPTY_ANSWER) return emptyAnswersError(run.model().model);
  const content: readonly ContentBlock[] = before.content;
  if (!content.some(({ type }) => type === "tool_result")) return undefined;
  await recordSystemMessage(run, EMPTY_ANSWER, { code: "empty" });
  return "again";
}

function emptyAnswersError({ provider, id }: Model): NanoAgentError {
  return new NanoAgentError(
    "invalid_response",
    `${provider} returned two empty answers of ${id} in a row after tool results. Run again without an input to continue, or try another model.`,
    { details: { provider, model: id }, retryable: true },
  );
}

function callAsTextError({ provider, id }: Model, tool: string): NanoAgentError {
  return new NanoAgentError(
    "invalid_response",
    `${provider} passed a call of the tool ${tool} by ${id} through as text, so it did not run. Start the server with its parser for the calls of this model (vLLM: --enable-auto-tool-choice --tool-call-parser NAME; SGLang: --tool-call-parser NAME; llama-server: --jinja), or read calls from the text: "toolCalls": "text".`,
    { details: { provider, model: id, calledAsText: tool } },
  );
}
