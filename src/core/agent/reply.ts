import { isNanoAgentError, toNanoAgentError } from "../base/errors.ts";
import type { Message } from "../message/message.ts";
import { beginRun } from "./begin-run.ts";
import { endRun } from "./end-run.ts";
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
  /** The run between its beginning and its result. */
  readonly conduct: (run: RunContext) => Promise<RunResult>;
}

/**
 * A run from its input to its result, inside the `reply` hooks. A hook that fails ends it with `error`; the journal keeps how it had
 * ended until then. Throws what {@link beginRun} and `conduct` throw.
 */
export async function reply(
  run: RunContext,
  { messages, history, longTerm, conduct }: Reply,
): Promise<RunResult> {
  const { hooks } = run;
  let input = messages;
  try {
    if (hooks.has("pre_reply")) input = await hookedInput(run, messages);
  } catch (error) {
    await beginRun(run, messages, { history });
    if (run.signal.aborted) return conduct(run);
    return endRun(run, { stopReason: "error", error: toNanoAgentError(error) });
  }
  if (longTerm === undefined) {
    await beginRun(run, input, { history });
    const result = await conduct(run);
    return hooks.has("post_reply") || hooks.failure !== undefined ? afterReply(run, input, result) : result;
  }
  await beginRun(run, input, { history, recalled: await longTerm.recall(run, input) });
  const result = await afterReply(run, input, await conduct(longTerm.listening(run)));
  await longTerm.keep(run, result);
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
    const failure = toNanoAgentError(error);
    if (isNanoAgentError(failure, "aborted")) return { ...result, stopReason: "aborted" };
    return { ...result, stopReason: "error", error: failure };
  }
  if (hooks.failure === undefined || hooked.error !== undefined) return hooked;
  return { ...hooked, stopReason: "error", error: hooks.failure };
}
