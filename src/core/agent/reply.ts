import { toNanoAgentError } from "../base/errors.ts";
import type { Message } from "../message/message.ts";
import { beginRun, saysSomething } from "./begin-run.ts";
import { aborted, endRun } from "./end-run.ts";
import type { AgentEvent } from "./event.ts";
import { runMessages } from "./input-messages.ts";
import type { LongTermControl } from "./long-term-control.ts";
import type { RunResult } from "./result.ts";
import type { RunContext } from "./run-context.ts";

/** What a run is made of beside its context. */
export interface Reply {
  readonly messages: readonly Message[];
  /** Conversation to start from when there is none yet. */
  readonly history: readonly Message[] | undefined;
  readonly longTerm: LongTermControl | undefined;
  /** Records what was observed and is not recorded yet; `closing` also where that closes calls that wait. */
  readonly storeObserved: (closing: boolean) => Promise<void>;
  /** The run between its beginning and its result. */
  readonly conduct: (run: RunContext) => Promise<RunResult>;
  readonly publish: (event: AgentEvent) => void;
  /** Called when the run is over, whatever became of it. */
  readonly ended: () => void;
}

/**
 * A run from its input to its result, inside the `reply` hooks. A hook that fails ends it with `error`; the journal keeps how it had
 * ended until then. Rejects with what {@link beginRun} and `conduct` throw.
 */
export async function reply(run: RunContext, parts: Reply): Promise<RunResult> {
  try {
    await parts.storeObserved(saysSomething(parts.messages));
    const result = await replyWithHooks(run, parts);
    await parts.storeObserved(false);
    parts.publish({ type: "done", result });
    return result;
  } finally {
    parts.ended();
  }
}

async function replyWithHooks(run: RunContext, parts: Reply): Promise<RunResult> {
  const { messages, history, longTerm, conduct } = parts;
  let input = messages;
  try {
    if (run.hooks.has("pre_reply")) input = await hookedInput(run, messages);
  } catch (error) {
    await beginRun(run, messages, { history });
    if (run.signal.aborted) return conduct(run);
    return endRun(run, { stopReason: "error", error: toNanoAgentError(error) });
  }
  const recalled = await longTerm?.recall(run, input);
  await beginRun(run, input, { history, recalled });
  const result = await afterReply(run, input, await conduct(run));
  await longTerm?.keep(run, result);
  return result;
}

async function hookedInput(run: RunContext, messages: readonly Message[]): Promise<readonly Message[]> {
  const hooked = (await run.hooks.pre("reply", { messages })).messages;
  return hooked === messages ? messages : runMessages(hooked);
}

async function afterReply(
  run: RunContext,
  messages: readonly Message[],
  result: RunResult,
): Promise<RunResult> {
  const { hooks } = run;
  let hooked = result;
  try {
    if (hooks.has("post_reply")) hooked = await hooks.post("reply", { messages }, result);
  } catch (error) {
    if (run.signal.aborted) return { ...result, ...aborted(run) } as RunResult;
    return { ...result, stopReason: "error", error: toNanoAgentError(error) };
  }
  if (hooks.failure === undefined || hooked.error !== undefined) return hooked;
  return { ...hooked, stopReason: "error", error: hooks.failure };
}
