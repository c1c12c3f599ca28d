import { orAborted } from "../base/abort.ts";
import { defined } from "../base/defined.ts";
import { misuse, NanoAgentError, toNanoAgentError } from "../base/errors.ts";
import { clipped } from "../base/text.ts";
import type { ToolUseBlock } from "../message/block.ts";
import { messageText, toolCallsOf } from "../message/message.ts";
import type { FinishReason, Model, ToolChoice } from "../model/model.ts";
import type { Finish } from "../tool/tool.ts";
import { act } from "./act.ts";
import { admitAll } from "./admit.ts";
import { aborted, overBudget } from "./end-run.ts";
import type { RequestOutcome } from "./exchange.ts";
import { exhaustedLimit } from "./limits.ts";
import { admitOpen } from "./open-calls.ts";
import { LeftAnswer } from "./plugins.ts";
import { reason } from "./reason.ts";
import type { Ending } from "./result.ts";
import { type MaxIterationsContext, type RunContext, record, remark, withChoice } from "./run-context.ts";
import { unfinished } from "./unfinished-answer.ts";
import { fillsWindow } from "./window-full.ts";

/** The words that ask for a summary when all steps are used up and one is to end the run. */
const SUMMARIZE =
  "All steps of this run are used up. Without calling tools: say what was found out and done, and what is still open.";
/** The words to a model that answers in text where a tool must end the run. */
function nudge(tool: string): string {
  return `Finish by calling the tool ${tool}; an answer in plain text does not count.`;
}

/** The words to a model whose server cannot read what it wrote. */
export const UNREADABLE: string =
  "Your last answer could not be read: there was something like a tool call in it that is none. Make one tool call with complete JSON arguments, or answer in plain text.";
/** Answers in a row whose arguments are not JSON, whatever they are, before the run ends. */
const MAX_UNREADABLE = 3;
/** Times a model may answer in text where a finish tool is required. */
const MAX_NUDGES = 3;

type Answer = Omit<Extract<RequestOutcome, { readonly type: "answer" }>, "type">;

/**
 * The ReAct loop: ask the model, run the tools it calls, hand back what they said, until it answers or
 * something ends the run. One model request per turn. Throws only for the journal; everything else is a stop
 * reason, which {@link endRun} records.
 */
export async function runTurns(given: RunContext): Promise<Ending> {
  const ending = await afterCut(withChoice(given));
  if (ending !== undefined) return ending;
  for (;;) {
    const iteration = given.state.progress.iterations + 1;
    for (const message of given.takeSteering()) await record(given, message);
    const run = withChoice(given);
    const stop = stopBefore(run, iteration);
    if (stop !== undefined) return stop === "max_iterations" ? atMaxIterations(run) : stop;

    run.emit({ type: "turn_start", iteration });
    const answer = await reason(run, toolChoiceOf(run));
    if (answer.type === "aborted") return aborted(run);
    if (answer.type === "exhausted") return overBudget(run, answer.limit);
    if (answer.type === "failed") {
      const ending = await afterFailure(run, answer.error);
      if (ending !== undefined) return ending;
      continue;
    }

    const calls = toolCallsOf(answer.message);
    const ending =
      calls.length > 0
        ? await afterCalls(run, calls, await act(run, await admitAll(run, calls)))
        : await afterText(run, answer);
    if (ending !== undefined) return ending;
  }
}

/** The rest of a turn in which the run was cut, or waited. Undefined when it is the model's turn. */
async function afterCut(run: RunContext): Promise<Ending | undefined> {
  const { transcript, progress } = run.state;
  const open = transcript.pending;
  if (open.length > 0) {
    const finish = await act(run, await admitOpen(run));
    return afterCalls(run, open, progress.finish ?? finish);
  }
  if (progress.finish !== undefined) return afterCalls(run, [], progress.finish);
  const { answer } = progress;
  return answer === undefined ? undefined : afterText(run, answer);
}

/** There is no answer. Undefined when the model was told why and may try again. */
async function afterFailure(run: RunContext, error: NanoAgentError): Promise<Ending | undefined> {
  if (error instanceof LeftAnswer) return { stopReason: "loop_detected", detail: error.message };
  // It was the server that could not read what its model wrote: the model can do better when it is told.
  const isUnreadable = error.details["reason"] === "unreadable_output";
  if (!isUnreadable || run.state.progress.unreadable + 1 >= MAX_UNREADABLE)
    return { stopReason: "error", error };
  await remark(run, UNREADABLE, { code: "unreadable" });
  return undefined;
}

/** The calls of the model have run, as far as they can. Undefined when it is the model's turn again. */
async function afterCalls(
  run: RunContext,
  calls: readonly ToolUseBlock[],
  finish: Finish | undefined,
): Promise<Ending | undefined> {
  if (run.signal.aborted) return aborted(run);
  if (run.failure.error !== undefined) return { stopReason: "error", error: run.failure.error };
  if (finish !== undefined) return finished(run, finish);
  if (run.state.isStopped) return { stopReason: "denied" };
  if (run.state.transcript.hasPending) return waiting(run);
  if (run.state.progress.unreadable >= MAX_UNREADABLE)
    return { stopReason: "error", error: neverReadable(calls) };
  for (const plugin of run.plugins) {
    const looking = plugin.afterTurn?.(run);
    const ending = looking === undefined ? undefined : await looking;
    if (ending !== undefined) return ending;
  }
  return undefined;
}

/** The next request's tool choice. Follows from options and entries: a run that goes on asks the same. */
function toolChoiceOf({ toolChoice, finishTool, state }: RunContext): ToolChoice | undefined {
  // It wanted to finish and was told what is wrong, or answered in text where a tool ends the run.
  if (finishTool !== undefined && (state.progress.nudges > 0 || state.progress.hasCalled(finishTool)))
    return { type: "tool", name: finishTool };
  // A forced choice is for the first answer: kept on, the model could never stop calling.
  const isKept = finishTool !== undefined || toolChoice === "none" || state.progress.iterations === 0;
  return isKept ? toolChoice : undefined;
}

/** Some calls wait for somebody outside the run; approval first, for it decides what there is to do. */
function waiting({ state }: RunContext): Ending {
  return { stopReason: state.approvals.size > 0 ? "awaiting_approval" : "awaiting_external" };
}

/** The model called nothing. Undefined when there is a reason to go on all the same. */
async function afterText(run: RunContext, answer: Answer): Promise<Ending | undefined> {
  if (answer.finishReason.unified === "pause") return undefined;
  const steering = run.takeSteering();
  for (const message of steering) await record(run, message);
  if (steering.length > 0) return undefined;
  if (answer.cappedBy !== undefined && answer.finishReason.unified === "length")
    return { ...overBudget(run, answer.cappedBy), text: messageText(answer.message) };
  if (run.finishTool === undefined || isCut(answer.finishReason)) {
    const doubt = answer.finishReason.unified === "stop" ? await unfinished(run, answer.message) : undefined;
    if (doubt === "again") return undefined;
    if (doubt === undefined) return answered(run, answer);
    return { stopReason: "error", text: messageText(answer.message), error: doubt };
  }
  if (run.state.progress.nudges >= MAX_NUDGES)
    return { stopReason: "error", error: neverFinished(run.finishTool) };
  await remark(run, nudge(run.finishTool), { code: "nudge" });
  return undefined;
}

function stopBefore(run: RunContext, iteration: number): Ending | "max_iterations" | undefined {
  if (run.signal.aborted) return aborted(run);
  if (run.failure.error !== undefined) return { stopReason: "error", error: run.failure.error };
  if (run.state.isStopped) return { stopReason: "denied" };
  const limit = exhaustedLimit(run);
  if (limit !== undefined) return overBudget(run, limit);
  return iteration > run.maxIterations ? "max_iterations" : undefined;
}

function finished(run: RunContext, { text, output }: Finish): Ending {
  if (run.finishTool !== undefined && output !== undefined)
    return { stopReason: "structured_output", text, output };
  return { stopReason: "finish_tool", text, ...defined({ output }) };
}

function isCut(finish: FinishReason): boolean {
  return ["length", "refusal", "error"].includes(finish.unified);
}

/** The remark about an answer that was cut because its conversation fills the window. */
function fullWindow({ model, state }: RunContext): Pick<Ending, "detail"> {
  const window = model.info?.contextWindow;
  const used = state.measured?.tokens;
  if (used === undefined || !fillsWindow(model, used)) return {};
  return { detail: `The context window of ${window} tokens is full: the conversation takes ${used}.` };
}

function answered(run: RunContext, { finishReason, message }: Answer): Ending {
  const text = messageText(message);
  const { unified, raw, detail } = finishReason;
  if (unified === "length") return { stopReason: "output_limit", text, ...fullWindow(run) };
  if (unified === "refusal") return { stopReason: "refusal", text, ...defined({ detail }) };
  if (unified === "error" || (unified === "other" && text === "" && raw !== ""))
    return { stopReason: "error", text, error: couldNotGoOn(run.model, finishReason) };
  return { stopReason: "completed", text };
}

/** An answer that broke off is no answer, whatever text there is. */
function couldNotGoOn({ provider, id }: Model, { raw, detail }: FinishReason): NanoAgentError {
  const said = detail === undefined ? "." : `: ${detail}`;
  return new NanoAgentError(
    "provider_error",
    `${provider} ended the answer of ${id} with ${JSON.stringify(raw)}${said} Run again without an input to go on, or ask in other words.`,
    { details: { provider, model: id, finishReason: raw }, retryable: true },
  );
}

function neverFinished(tool: string): NanoAgentError {
  return new NanoAgentError(
    "invalid_response",
    `The model never delivered the value: it answered in text ${MAX_NUDGES + 1} times instead of calling ${tool}. Try a model that follows tool calls, or a simpler schema.`,
    { details: { neverCalled: tool } },
  );
}

function neverReadable(calls: readonly ToolUseBlock[]): NanoAgentError {
  const { name = "", invalid_input } = calls.at(-1) ?? {};
  const sent = clipped(invalid_input?.raw ?? "", 500);
  return new NanoAgentError(
    "invalid_response",
    `In ${MAX_UNREADABLE} answers in a row the arguments of the calls were not JSON. The last ones, of ${name}: ${sent} Try a model that follows tool calls, or a higher output limit if they were cut.`,
    { details: { tool: name, sent } },
  );
}

async function atMaxIterations(run: RunContext): Promise<Ending> {
  const { onMaxIterations } = run;
  if (typeof onMaxIterations === "function") return callerEnding(run, onMaxIterations);
  if (onMaxIterations !== "summarize") return { stopReason: "max_iterations" };
  await remark(run, SUMMARIZE, { code: "summarize" });
  // When the summary fails the last text stands, which is what the state holds.
  const answer = await reason(run, "none");
  return answer.type === "aborted" ? aborted(run) : { stopReason: "max_iterations" };
}

async function callerEnding(
  run: RunContext,
  compose: (context: MaxIterationsContext) => string | Promise<string>,
): Promise<Ending> {
  const { maxIterations, state } = run;
  try {
    const context = { maxIterations, messages: state.transcript.messages, lastText: state.progress.lastText };
    const text: unknown = await orAborted(Promise.resolve(compose(context)), run.signal);
    if (typeof text === "string") return { stopReason: "max_iterations", text, addsText: true };
    throw misuse("onMaxIterations returned no text: return the answer of the run.");
  } catch (error) {
    return run.signal.aborted ? aborted(run) : { stopReason: "error", error: toNanoAgentError(error) };
  }
}
