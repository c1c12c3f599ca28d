import { orAborted } from "../base/async.ts";
import { misuse, type NanoAgentError, toNanoAgentError } from "../base/errors.ts";
import {
  type Message,
  messageText,
  type ToolUseBlock,
  toolCallsOf,
  type UserMessage,
} from "../message/message.ts";
import type { ToolChoice } from "../model/model.ts";
import type { Finish, ToolRegistry } from "../tool/tool.ts";
import { prepareCalls, prepareOpenCalls } from "./approvals.ts";
import type { NewEntry } from "./entries.ts";
import { askModel, type ModelTurn, usedUpLimit } from "./model-turn.ts";
import {
  aborted,
  answered,
  endingOf,
  finished,
  isCut,
  MAX_FINISH_REMINDERS,
  neverFinished,
  neverReadable,
  overBudget,
  resultOf,
  unfinished,
} from "./perform.ts";
import type { Ending, RunResult } from "./result.ts";
import {
  AbortedAnswer,
  beforeTurn,
  foldsOf,
  type MaxIterationsContext,
  type OnMaxIterations,
  type Run,
  record,
  recordSystemMessage,
} from "./run.ts";
import { runCalls } from "./run-calls.ts";
import { MAX_UNREADABLE, SessionState } from "./state.ts";

const SUMMARIZE =
  "All steps of this run are used up. Without calling tools: say what was found out and done, and what is still open.";
/** To a model whose server cannot read what it wrote. */
export const UNREADABLE: string =
  "Your last answer could not be read: there was something like a tool call in it that is none. Make one tool call with complete JSON arguments, or answer in plain text.";

type Answer = Omit<Extract<ModelTurn, { readonly type: "answer" }>, "type">;

/**
 * The ReAct loop: ask the model, run the tools it calls, hand back what they said, until it answers or
 * something ends the run. One model request per turn. Throws only for the journal; everything else is a stop
 * reason, which {@link endRun} records.
 */
export async function loop(run: Run): Promise<Ending> {
  if (isSeparate(run)) return loopSeparately(run);
  const cut = await afterCut(run);
  if (cut !== undefined) return cut;
  for (;;) {
    const iteration = run.state.progress.iterations + 1;
    for (const message of steeringOf(run)) await record(run, message);
    const stop = stopBefore(run, iteration);
    if (stop !== undefined) return stop === "max_iterations" ? atMaxIterations(run) : stop;

    run.emit({ type: "turn_start", iteration });
    const turn = await askModel(run, toolChoiceOf(run));
    if (turn.type === "aborted") return aborted(run.signal);
    if (turn.type === "exhausted") return overBudget(run, turn.limit);
    if (turn.type === "failed") {
      const ending = await afterFailure(run, turn.error);
      if (ending !== undefined) return ending;
      continue;
    }

    const calls = toolCallsOf(turn.message);
    const ending =
      calls.length > 0
        ? await afterCalls(run, calls, await runCalls(run, await prepareCalls(run, calls)))
        : await afterText(run, turn);
    if (ending !== undefined) return ending;
  }
}

function isSeparate({ settings, scope, state }: Run): boolean {
  return settings.memory === "final-only" && scope === undefined && !state.transcript.hasPending;
}

/** The turns on a transcript of their own, of which the conversation keeps the answer. */
async function loopSeparately(run: Run): Promise<Ending> {
  await beforeTurn(run);
  const { finishTool, toolChoice } = run.until;
  const history = run.state.transcript.messages;
  const result = await runNested(run, { scope: "reply", history, tools: run.tools, finishTool, toolChoice });
  return { ...endingOf(result), addsText: true, iterations: result.iterations };
}

/** Steering is for the conversation and its phases, not for a subagent. */
function steeringOf({ subagent, shared }: Run): readonly NewEntry[] {
  return subagent === undefined ? shared.takeSteering() : [];
}

/** The rest of a turn in which the run was cut, or waited. Undefined when it is the model's turn. */
async function afterCut(run: Run): Promise<Ending | undefined> {
  const { transcript, progress } = run.state;
  const open = transcript.pending;
  if (open.length > 0) {
    const finish = await runCalls(run, await prepareOpenCalls(run));
    return afterCalls(run, open, progress.finish ?? finish);
  }
  if (progress.finish !== undefined) return afterCalls(run, [], progress.finish);
  const { answer } = progress;
  return answer === undefined ? undefined : afterText(run, answer);
}

/** There is no answer. Undefined when the model was told why and may try again. */
async function afterFailure(run: Run, error: NanoAgentError): Promise<Ending | undefined> {
  if (error instanceof AbortedAnswer) return { stopReason: "loop_detected", detail: error.message };
  // It was the server that could not read what its model wrote: the model can do better when it is told.
  const isUnreadable = error.details["reason"] === "unreadable_output";
  if (!isUnreadable || run.state.progress.unreadable + 1 >= MAX_UNREADABLE)
    return { stopReason: "error", error };
  await recordSystemMessage(run, UNREADABLE, { code: "unreadable" });
  return undefined;
}

/** The calls of the model have run, as far as they can. Undefined when it is the model's turn again. */
async function afterCalls(
  run: Run,
  calls: readonly ToolUseBlock[],
  finish: Finish | undefined,
): Promise<Ending | undefined> {
  const cut = cutShort(run);
  if (cut !== undefined) return cut;
  if (finish !== undefined) return finished(run, finish);
  if (run.state.isStopped) return { stopReason: "denied" };
  // Some calls wait for somebody outside the run; approval first, for it decides what there is to do.
  if (run.state.transcript.hasPending)
    return { stopReason: run.state.approvals.size > 0 ? "awaiting_approval" : "awaiting_external" };
  if (run.state.progress.unreadable >= MAX_UNREADABLE)
    return { stopReason: "error", error: neverReadable(calls) };
  for (const plugin of run.shared.plugins) {
    const looking = plugin.afterTurn?.(run);
    const ending = looking === undefined ? undefined : await looking;
    if (ending !== undefined) return ending;
  }
  return undefined;
}

/** The next request's tool choice. Follows from options and entries: a run that goes on asks the same. */
function toolChoiceOf({ until, state }: Run): ToolChoice | undefined {
  const { toolChoice, finishTool } = until;
  // It wanted to finish and was told what is wrong, or answered in text where a tool ends the run.
  if (finishTool !== undefined && (state.progress.nudges > 0 || state.progress.hasCalled(finishTool)))
    return { type: "tool", name: finishTool };
  // A forced choice is for the first answer: kept on, the model could never stop calling.
  const isKept = finishTool !== undefined || toolChoice === "none" || state.progress.iterations === 0;
  return isKept ? toolChoice : undefined;
}

/** The model called nothing. Undefined when there is a reason to go on all the same. */
async function afterText(run: Run, answer: Answer): Promise<Ending | undefined> {
  if (answer.finishReason.unified === "pause") return undefined;
  const steering = steeringOf(run);
  for (const message of steering) await record(run, message);
  if (steering.length > 0) return undefined;
  if (answer.cappedBy !== undefined && answer.finishReason.unified === "length")
    return { ...overBudget(run, answer.cappedBy), text: messageText(answer.message) };
  const { finishTool } = run.until;
  if (finishTool === undefined || isCut(answer.finishReason)) {
    const doubt = answer.finishReason.unified === "stop" ? await unfinished(run, answer.message) : undefined;
    if (doubt === "again") return undefined;
    if (doubt === undefined) return answered(run, answer);
    return { stopReason: "error", text: messageText(answer.message), error: doubt };
  }
  if (run.state.progress.nudges >= MAX_FINISH_REMINDERS)
    return { stopReason: "error", error: neverFinished(finishTool) };
  const reminder = `Finish by calling the tool ${finishTool}; an answer in plain text does not count.`;
  await recordSystemMessage(run, reminder, { code: "nudge" });
  return undefined;
}

/** The end of a run that was aborted, or in which a plugin failed. */
function cutShort({ signal, shared }: Run): Ending | undefined {
  const { error } = shared.failure;
  if (signal.aborted) return aborted(signal);
  return error === undefined ? undefined : { stopReason: "error", error };
}

function stopBefore(run: Run, iteration: number): Ending | "max_iterations" | undefined {
  const cut = cutShort(run);
  if (cut !== undefined) return cut;
  if (run.state.isStopped) return { stopReason: "denied" };
  const limit = usedUpLimit(run);
  if (limit !== undefined) return overBudget(run, limit);
  return iteration > run.until.maxIterations ? "max_iterations" : undefined;
}

async function atMaxIterations(run: Run): Promise<Ending> {
  const { onMaxIterations } = run.until;
  if (typeof onMaxIterations === "function") return callerEnding(run, onMaxIterations);
  if (onMaxIterations !== "summarize") return { stopReason: "max_iterations" };
  await recordSystemMessage(run, SUMMARIZE, { code: "summarize" });
  // When the summary fails the last text stands, which is what the state holds.
  const answer = await askModel(run, "none");
  return answer.type === "aborted" ? aborted(run.signal) : { stopReason: "max_iterations" };
}

async function callerEnding(
  run: Run,
  compose: (context: MaxIterationsContext) => string | Promise<string>,
): Promise<Ending> {
  const { state, until } = run;
  const { maxIterations } = until;
  try {
    const context = { maxIterations, messages: state.transcript.messages, lastText: state.progress.lastText };
    const text: unknown = await orAborted(Promise.resolve(compose(context)), run.signal);
    if (typeof text === "string") return { stopReason: "max_iterations", text, addsText: true };
    throw misuse("onMaxIterations returned no text: return the answer of the run.");
  } catch (error) {
    return run.signal.aborted ? aborted(run.signal) : { stopReason: "error", error: toNanoAgentError(error) };
  }
}

/** The differences of a nested run. All else, journal, limits and abort too, is that of the run around it. */
export interface NestedRun {
  /** Tags its entries in the journal, below the scope of the run around it. */
  readonly scope: string;
  /** The conversation it starts from, which can be sent as it is. Default: none. Not recorded again. */
  readonly history?: readonly Message[];
  /** Its question, added to the history. Default: the history ends with the question. */
  readonly message?: UserMessage;
  readonly tools: ToolRegistry;
  /** Name of the tool that must end it, one of `tools`. */
  readonly finishTool?: string | undefined;
  /** For its first request. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Default: that of the run around it. */
  readonly maxIterations?: number;
  /** Default: that of the run around it. */
  readonly onMaxIterations?: OnMaxIterations;
}

/**
 * Runs the loop on a transcript of its own inside another run. What it spends counts for the budget of the
 * session; its entries stand in the same journal, tagged, and are no part of the conversation. A tool that
 * waits for the caller is answered with an error, for nothing could bring the answer in. Throws only for the
 * journal; `onMaxIterations: "throw"` is for the run around it to keep.
 */
export async function runNested(run: Run, nested: NestedRun): Promise<RunResult> {
  const scope = run.scope === undefined ? nested.scope : `${run.scope}/${nested.scope}`;
  const inner: Run = {
    ...run,
    scope,
    state: new SessionState(foldsOf(run.shared.plugins), { scope, parent: run.state }),
    tools: nested.tools,
    until: {
      finishTool: nested.finishTool,
      toolChoice: nested.toolChoice,
      maxIterations: nested.maxIterations ?? run.until.maxIterations,
      onMaxIterations: nested.onMaxIterations ?? run.until.onMaxIterations,
    },
  };
  inner.state.transcript.addHistory(nested.history ?? []);
  if (nested.message !== undefined)
    await record(inner, { type: "user_message", message: nested.message, source: "system" });
  return resultOf(inner, await loop(inner));
}
