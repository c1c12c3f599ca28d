import { isNanoAgentError, NanoAgentError, toNanoAgentError } from "../base/errors.ts";
import type { ToolUseBlock } from "../message/block.ts";
import { assistantMessage, messageText, toolCallsOf } from "../message/message.ts";
import type { FinishReason, ToolChoice } from "../model/model.ts";
import type { ToolResult } from "../tool/tool.ts";
import { act } from "./act.ts";
import { exhaustedLimit } from "./limits.ts";
import type { MaxIterationsContext } from "./options.ts";
import { type Reasoned, reason } from "./reason.ts";
import { type BudgetLimit, MaxIterationsError, type RunResult } from "./result.ts";
import { type RunContext, record } from "./run-context.ts";
import type { StopReason } from "./stop-reason.ts";

/** Texts the loop itself says to the model. */
const SUMMARIZE =
  "All steps of this run are used up. Without calling tools: say what was found out and done, and what is still open.";
const NUDGE = (tool: string): string =>
  `Finish by calling the tool ${tool}; an answer in plain text does not count.`;
/** Times a model may answer in text where a finish tool is required. */
const MAX_NUDGES = 3;

type AnsweredTurn = Extract<Reasoned, { readonly type: "answer" }>;

/** How a run came to its end. */
export interface Ending {
  readonly stopReason: StopReason;
  /** The answer. Default: the last text the model wrote in this run. */
  readonly text?: string;
  /** True when no message of the conversation holds `text`: it is added as one, unless it is empty. */
  readonly addsText?: boolean;
  readonly output?: unknown;
  readonly limit?: BudgetLimit;
  readonly error?: NanoAgentError;
  /** Answered model requests. Default: those of this run itself. */
  readonly iterations?: number;
}

/**
 * The ReAct loop: ask the model, run the tools it calls, hand back what they said, until it answers or something ends the run. One
 * model request per turn. Throws only for the journal and for `onMaxIterations: "throw"`; everything else is a stop reason.
 */
export async function runLoop(run: RunContext): Promise<RunResult> {
  return endRun(run, await runTurns(run));
}

/** Records how a run ended and makes its result. Throws for the journal and for `onMaxIterations: "throw"`. */
export async function endRun(run: RunContext, ending: Ending): Promise<RunResult> {
  const { error, text = "" } = ending;
  if (ending.addsText === true && text.trim() !== "")
    await record(run, { type: "history", messages: [assistantMessage(text)] });
  await record(run, {
    type: "run_end",
    stopReason: ending.stopReason,
    iterations: ending.iterations ?? run.state.iterations,
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
  });
  const result = resultOf(run, ending);
  if (ending.stopReason === "max_iterations" && run.onMaxIterations === "throw") {
    throw new MaxIterationsError(run.maxIterations, result);
  }
  return result;
}

/** What the next request asks of the model. */
interface Demand {
  toolChoice: ToolChoice | undefined;
  /** Times the model was reminded to finish by tool. */
  nudges: number;
}

/** The turns of a run, without the record of its end: see {@link runLoop}, which is this and {@link endRun}. */
export async function runTurns(run: RunContext): Promise<Ending> {
  const demand: Demand = { toolChoice: run.toolChoice, nudges: 0 };
  for (let iteration = 1; ; iteration++) {
    await takeInSteering(run);
    const stop = stopBefore(run, iteration);
    if (stop !== undefined) return stop === "max_iterations" ? atMaxIterations(run) : stop;

    run.emit({ type: "turn_start", iteration });
    const answer = await reason(run, demand.toolChoice);
    if (answer.type === "aborted") return aborted(run);
    if (answer.type === "failed") return { stopReason: "error", error: answer.error };

    const calls = toolCallsOf(answer.message);
    const ending =
      calls.length > 0 ? await afterCalls(run, calls, demand) : await afterText(run, answer, demand);
    if (ending !== undefined) return ending;
  }
}

/** The model called tools: runs them. Undefined when it is the model's turn again. */
async function afterCalls(
  run: RunContext,
  calls: readonly ToolUseBlock[],
  demand: Demand,
): Promise<Ending | undefined> {
  const outcome = await act(run, calls);
  if (run.signal.aborted) return aborted(run);
  if (run.hooks.failure !== undefined) return { stopReason: "error", error: run.hooks.failure };
  if (outcome.finish !== undefined) return finished(run, outcome.finish);
  if (outcome.denied) return { stopReason: "denied" };
  if (outcome.external) return { stopReason: "awaiting_external" };
  const { finishTool } = run;
  if (finishTool === undefined) {
    // A forced choice is for the first answer: kept on, the model could never stop calling.
    if (demand.toolChoice !== "none") demand.toolChoice = undefined;
  } else if (calls.some(({ name }) => name === finishTool)) {
    // It wanted to finish and was told what is wrong: the next answer is to be the corrected one.
    demand.toolChoice = { type: "tool", name: finishTool };
  }
  return undefined;
}

/** The model called nothing. Undefined when there is a reason to go on all the same. */
async function afterText(run: RunContext, answer: AnsweredTurn, demand: Demand): Promise<Ending | undefined> {
  if (answer.finishReason.unified === "pause") return undefined;
  if (await takeInSteering(run)) return undefined;
  if (run.finishTool === undefined || isCut(answer.finishReason)) return answered(answer);
  if (++demand.nudges > MAX_NUDGES) return { stopReason: "error", error: neverFinished(run.finishTool) };
  await say(run, NUDGE(run.finishTool));
  demand.toolChoice = { type: "tool", name: run.finishTool };
  return undefined;
}

/** Records the steering messages that came in; false when there were none. */
async function takeInSteering(run: RunContext): Promise<boolean> {
  const messages = run.takeSteering();
  for (const message of messages) await record(run, message);
  return messages.length > 0;
}

function stopBefore(run: RunContext, iteration: number): Ending | "max_iterations" | undefined {
  if (run.signal.aborted) return aborted(run);
  if (run.hooks.failure !== undefined) return { stopReason: "error", error: run.hooks.failure };
  if (run.state.transcript.pending.length > 0) return { stopReason: "awaiting_external" };
  const limit = exhaustedLimit(run);
  if (limit !== undefined) return { stopReason: "budget", limit };
  return iteration > run.maxIterations ? "max_iterations" : undefined;
}

/** The wall time of the budget aborts with a `timeout`; every other abort is the caller's. */
function aborted(run: RunContext): Ending {
  if (isNanoAgentError(run.signal.reason, "timeout")) return { stopReason: "budget", limit: "wall_time" };
  return { stopReason: "aborted" };
}

function finished(run: RunContext, finish: NonNullable<ToolResult["finish"]>): Ending {
  const { text, output } = finish;
  if (run.finishTool !== undefined && output !== undefined)
    return { stopReason: "structured_output", text, output };
  return { stopReason: "finish_tool", text, ...(output === undefined ? {} : { output }) };
}

function isCut(finish: FinishReason): boolean {
  return finish.unified === "length" || finish.unified === "refusal";
}

function answered({ finishReason, message }: AnsweredTurn): Ending {
  const text = messageText(message);
  if (finishReason.unified === "length") return { stopReason: "output_limit", text };
  if (finishReason.unified === "refusal") return { stopReason: "refusal", text };
  return { stopReason: "completed", text };
}

function neverFinished(tool: string): NanoAgentError {
  return new NanoAgentError(
    "invalid_response",
    `The model never delivered the value: it answered in text ${MAX_NUDGES + 1} times instead of calling ${tool}. Try a model that follows tool calls, or a simpler schema.`,
  );
}

async function atMaxIterations(run: RunContext): Promise<Ending> {
  const { onMaxIterations } = run;
  if (typeof onMaxIterations === "function") return callerEnding(run, onMaxIterations);
  if (onMaxIterations !== "summarize") return { stopReason: "max_iterations" };
  await say(run, SUMMARIZE);
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
    const text = await compose({
      maxIterations,
      messages: state.transcript.messages,
      lastText: state.lastText,
    });
    return { stopReason: "max_iterations", text, addsText: true };
  } catch (error) {
    return { stopReason: "error", error: toNanoAgentError(error) };
  }
}

async function say(run: RunContext, text: string): Promise<void> {
  const message = { role: "user", content: [{ type: "text", text }] } as const;
  await record(run, { type: "user_message", message, source: "system" });
}

/** The result of a run that ended so. */
export function resultOf(run: RunContext, ending: Ending): RunResult {
  const { state } = run;
  return {
    text: ending.text ?? state.lastText,
    ...(ending.output === undefined ? {} : { output: ending.output }),
    stopReason: ending.stopReason,
    ...(ending.limit === undefined ? {} : { limit: ending.limit }),
    ...(ending.error === undefined ? {} : { error: ending.error }),
    iterations: ending.iterations ?? Math.min(state.iterations, run.maxIterations),
    messages: state.transcript.messages.slice(),
    usage: state.run.usage,
    cost: state.run.costUsd,
    sessionId: run.journal.sessionId,
  };
}
