import { toNanoAgentError } from "../base/errors.ts";
import type { Message } from "../message/message.ts";
import { beginRun } from "./begin-run.ts";
import { aborted, endRun } from "./end-run.ts";
import { runTurns } from "./loop.ts";
import { endingOf, runNested } from "./nested-run.ts";
import type { RunBeginning } from "./plugin.ts";
import { beforeTurn, throughPlugins } from "./plugins.ts";
import type { Ending, RunResult } from "./result.ts";
import type { RunContext } from "./run-context.ts";

/** The parts of a run beside its context. */
export interface RunParts {
  /** Its input; empty for a run that goes on. */
  readonly messages: readonly Message[];
  /** Conversation to start from when there is none yet. */
  readonly history: readonly Message[];
  /** The run between its beginning and its result. */
  readonly conduct: (run: RunContext) => Promise<RunResult>;
}

/**
 * A run from its input to its result, inside its plugins. A plugin that fails ends it with `error`; the
 * journal keeps how it had ended until then. Rejects with what {@link beginRun} and `conduct` throw.
 */
export async function performRun(
  run: RunContext,
  { messages, history, conduct }: RunParts,
): Promise<RunResult> {
  const given: RunBeginning = { messages, before: [] };
  let beginning = given;
  try {
    beginning = await throughPlugins(run.plugins, given, (plugin, made) => plugin.beforeRun?.(run, made));
  } catch (error) {
    await beginRun(run, given, history);
    if (run.signal.aborted) return conduct(run);
    return endRun(run, { stopReason: "error", error: toNanoAgentError(error) });
  }
  await beginRun(run, beginning, history);
  return afterRun(run, await conduct(run), beginning);
}

async function afterRun(run: RunContext, ended: RunResult, beginning: RunBeginning): Promise<RunResult> {
  let result = ended;
  for (const plugin of run.plugins) {
    try {
      result = (await plugin.afterRun?.(run, result, beginning)) ?? result;
    } catch (error) {
      if (run.signal.aborted) result = { ...result, ...aborted(run) } as RunResult;
      else result = { ...result, stopReason: "error", error: toNanoAgentError(error) };
    }
    result = withFailure(run, result);
  }
  return result;
}

/** The result of a run in which a plugin failed that had no other way to end it. */
function withFailure({ failure: { error } }: RunContext, result: RunResult): RunResult {
  return error === undefined || result.error !== undefined
    ? result
    : { ...result, stopReason: "error", error };
}

/** The loop and the record of its end. Throws for the journal and for `onMaxIterations: "throw"` alone. */
export async function runLoop(run: RunContext): Promise<RunResult> {
  return endRun(run, await converse(run));
}

/**
 * The turns of a run; {@link import("./run-context.ts").ConversationMemory} says what is kept of them. One
 * whose calls are open in the conversation goes on there.
 */
export function converse(run: RunContext): Promise<Ending> {
  return run.memory === "full" || run.state.transcript.hasPending ? runTurns(run) : converseAside(run);
}

/** The turns on a transcript of their own, of which the conversation keeps the answer. */
async function converseAside(run: RunContext): Promise<Ending> {
  await beforeTurn(run);
  const result = await runNested(run, {
    scope: "reply",
    history: run.state.transcript.messages,
    tools: run.tools,
    finishTool: run.finishTool,
    toolChoice: run.toolChoice,
  });
  return { ...endingOf(result), addsText: true, iterations: result.iterations };
}
