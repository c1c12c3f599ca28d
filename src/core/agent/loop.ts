import { raceAbort } from "../base/async.ts";
import { invalidArgument, type NanoAgentError, toNanoAgentError } from "../base/errors.ts";
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
  abortEnding,
  answerEnding,
  budgetEnding,
  checkFinalAnswer,
  endingOf,
  finishEnding,
  finishToolNotCalledError,
  isAbnormalFinish,
  MAX_FINISH_REMINDERS,
  resultOf,
  unreadableCallsError,
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
  "This run has used all its steps. Without calling tools, say what you found and did, and what is still open.";
/** For a model whose server could not parse its output. */
export const UNREADABLE: string =
  "Your last answer could not be read: it contained something like a tool call that was not one. Make one tool call with complete JSON arguments, or answer in plain text.";

type Answer = Omit<Extract<ModelTurn, { readonly type: "answer" }>, "type">;

/**
 * The ReAct loop: ask the model, run the tools it calls, hand back their results, until it answers or
 * something ends the run. One model request per turn. Throws only when the journal fails; every other outcome
 * is a stop reason, which {@link endRun} records.
 */
export async function loop(run: Run): Promise<Ending> {
  const isFinalOnly = run.settings.memory === "final-only" && run.scope === undefined;
  if (isFinalOnly && !run.state.transcript.hasPending) return loopOnSeparateTranscript(run);
  const cut = await completeOpenTurn(run);
  if (cut !== undefined) return cut;
  for (;;) {
    const iteration = run.state.progress.iterations + 1;
    for (const message of steeringOf(run)) await record(run, message);
    const stop = stopBefore(run, iteration);
    if (stop !== undefined) return stop === "max_iterations" ? atMaxIterations(run) : stop;

    run.emit({ type: "turn_start", iteration });
    const turn = await askModel(run, toolChoiceOf(run));
    if (turn.type === "aborted") return abortEnding(run.signal);
    if (turn.type === "exhausted") return budgetEnding(run, turn.limit);
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

/** The turns on a separate transcript; the conversation keeps only the answer. */
async function loopOnSeparateTranscript(run: Run): Promise<Ending> {
  await beforeTurn(run);
  const { finishTool, toolChoice } = run.until;
  const history = run.state.transcript.messages;
  const result = await runNested(run, { scope: "reply", history, tools: run.tools, finishTool, toolChoice });
  return { ...endingOf(result), addsText: true, iterations: result.iterations };
}

/** Steering reaches the conversation and its phases, not subagents. */
function steeringOf({ subagent, shared }: Run): readonly NewEntry[] {
  return subagent === undefined ? shared.takeSteering() : [];
}

/** Completes the turn in which the run was cut or started to wait. Undefined when the model is next. */
async function completeOpenTurn(run: Run): Promise<Ending | undefined> {
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

/** The request brought no answer. Undefined when the model was told why and may try again. */
async function afterFailure(run: Run, error: NanoAgentError): Promise<Ending | undefined> {
  if (error instanceof AbortedAnswer) return { stopReason: "loop_detected", detail: error.message };
  // The server could not parse what its model wrote. Told so, the model can do better.
  const isUnreadable = error.details["reason"] === "unreadable_output";
  if (!isUnreadable || run.state.progress.unreadableAnswers + 1 >= MAX_UNREADABLE)
    return { stopReason: "error", error };
  await recordSystemMessage(run, UNREADABLE, { code: "unreadable" });
  return undefined;
}

/** The calls have run as far as they can. Undefined when the model is next. */
async function afterCalls(
  run: Run,
  calls: readonly ToolUseBlock[],
  finish: Finish | undefined,
): Promise<Ending | undefined> {
  const cut = interruptionEnding(run);
  if (cut !== undefined) return cut;
  if (finish !== undefined) return finishEnding(run, finish);
  if (run.state.isStopped) return { stopReason: "denied" };
  // Calls wait for somebody outside the run. Approvals come first: they decide what is left to do.
  if (run.state.transcript.hasPending)
    return { stopReason: run.state.approvals.size > 0 ? "awaiting_approval" : "awaiting_external" };
  if (run.state.progress.unreadableAnswers >= MAX_UNREADABLE)
    return { stopReason: "error", error: unreadableCallsError(calls) };
  for (const plugin of run.shared.plugins) {
    const looking = plugin.afterTurn?.(run);
    const ending = looking === undefined ? undefined : await looking;
    if (ending !== undefined) return ending;
  }
  return undefined;
}

/** The tool choice of the next request, derived from options and entries, so a resumed run asks the same. */
function toolChoiceOf({ until, state: { progress } }: Run): ToolChoice | undefined {
  const { toolChoice, finishTool } = until;
  // The model called the finish tool and was corrected, or answered in text where it must call it.
  if (finishTool !== undefined && (progress.finishReminders > 0 || progress.hasCalled(finishTool)))
    return { type: "tool", name: finishTool };
  // A forced choice applies to the first answer only; if it stayed, the model could never stop calling.
  const isKept = finishTool !== undefined || toolChoice === "none" || progress.iterations === 0;
  return isKept ? toolChoice : undefined;
}

/** The model called no tool. Undefined when the run continues all the same. */
async function afterText(run: Run, answer: Answer): Promise<Ending | undefined> {
  const { unified } = answer.finishReason;
  if (unified === "pause") return undefined;
  const steering = steeringOf(run);
  for (const message of steering) await record(run, message);
  if (steering.length > 0) return undefined;
  if (answer.cappedBy !== undefined && unified === "length")
    return { ...budgetEnding(run, answer.cappedBy), text: messageText(answer.message) };
  const { finishTool } = run.until;
  if (finishTool === undefined || isAbnormalFinish(answer.finishReason)) {
    const doubt = unified === "stop" ? await checkFinalAnswer(run, answer.message) : undefined;
    if (doubt === "again") return undefined;
    if (doubt === undefined) return answerEnding(run, answer);
    return { stopReason: "error", text: messageText(answer.message), error: doubt };
  }
  if (run.state.progress.finishReminders >= MAX_FINISH_REMINDERS)
    return { stopReason: "error", error: finishToolNotCalledError(finishTool) };
  const reminder = `Finish by calling the tool ${finishTool}; an answer in plain text does not count.`;
  await recordSystemMessage(run, reminder, { code: "nudge" });
  return undefined;
}

/** The end of a run that was aborted, or in which a plugin failed. */
function interruptionEnding({ signal, shared }: Run): Ending | undefined {
  const { error } = shared.failure;
  if (signal.aborted) return abortEnding(signal);
  return error === undefined ? undefined : { stopReason: "error", error };
}

function stopBefore(run: Run, iteration: number): Ending | "max_iterations" | undefined {
  const cut = interruptionEnding(run);
  if (cut !== undefined) return cut;
  if (run.state.isStopped) return { stopReason: "denied" };
  const limit = usedUpLimit(run);
  if (limit !== undefined) return budgetEnding(run, limit);
  return iteration > run.until.maxIterations ? "max_iterations" : undefined;
}

async function atMaxIterations(run: Run): Promise<Ending> {
  const { onMaxIterations } = run.until;
  if (typeof onMaxIterations === "function") return callerEnding(run, onMaxIterations);
  if (onMaxIterations !== "summarize") return { stopReason: "max_iterations" };
  await recordSystemMessage(run, SUMMARIZE, { code: "summarize" });
  // If the summary fails, the last text stands; the state has it.
  const answer = await askModel(run, "none");
  return answer.type === "aborted" ? abortEnding(run.signal) : { stopReason: "max_iterations" };
}

async function callerEnding(
  run: Run,
  compose: (context: MaxIterationsContext) => string | Promise<string>,
): Promise<Ending> {
  const { state, until } = run;
  const { maxIterations } = until;
  try {
    const context = { maxIterations, messages: state.transcript.messages, lastText: state.progress.lastText };
    const text: unknown = await raceAbort(Promise.resolve(compose(context)), run.signal);
    if (typeof text === "string") return { stopReason: "max_iterations", text, addsText: true };
    throw invalidArgument("onMaxIterations returned no text: return the answer of the run.");
  } catch (error) {
    if (run.signal.aborted) return abortEnding(run.signal);
    return { stopReason: "error", error: toNanoAgentError(error) };
  }
}

/**
 * What differs in a nested run. Everything else, such as journal, limits and abort, is shared with its
 * parent.
 */
export interface NestedRun {
  /** Tags its entries in the journal, below the scope of its parent. */
  readonly scope: string;
  /** The conversation it starts from, ready to send. Not recorded again. Default: none. */
  readonly history?: readonly Message[];
  /** Its question, appended to the history. Default: the history ends with the question. */
  readonly message?: UserMessage;
  readonly tools: ToolRegistry;
  /** Name of the tool that must end it; one of `tools`. */
  readonly finishTool?: string | undefined;
  /** For its first request only. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Default: that of its parent. */
  readonly maxIterations?: number;
  /** Default: that of its parent. */
  readonly onMaxIterations?: OnMaxIterations;
}

/**
 * Runs the loop on its own transcript inside another run. Its spending counts for the session's budget; its
 * entries go to the same journal, tagged with its scope, and are not part of the conversation. A tool that
 * waits for the caller fails, because no answer could reach a nested run. Throws only when the journal fails;
 * `onMaxIterations: "throw"` is left to the outer run.
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
