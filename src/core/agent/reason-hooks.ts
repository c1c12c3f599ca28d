import { NanoAgentError, toNanoAgentError } from "../base/errors.ts";
import { toolCallsOf } from "../message/message.ts";
import type { ModelRequest } from "../model/model.ts";
import type { HookOutputs } from "./hook.ts";
import type { RunContext } from "./run-context.ts";

/** The request as the hooks before it leave it. Throws what a hook throws. */
export async function hookedRequest(run: RunContext, request: ModelRequest): Promise<ModelRequest> {
  return (await run.hooks.pre("reasoning", { request })).request;
}

/** An answer after its hooks. With `failure` it is the model's own, which was paid for and is kept. */
export type HookedAnswer = HookOutputs["reasoning"] & { readonly failure?: NanoAgentError };

/** The answer as the hooks after it leave it. Never throws. */
export async function hookedAnswer(
  run: RunContext,
  request: ModelRequest,
  answer: HookOutputs["reasoning"],
): Promise<HookedAnswer> {
  try {
    const hooked = await run.hooks.post("reasoning", { request }, answer);
    const given = new Set(toolCallsOf(answer.message).map(({ id }) => id));
    assertCallIds(hooked, (id) => run.state.transcript.callIds.has(id) && !given.has(id));
    // A message of its own: a hook may give the same one again and again.
    return hooked.message === answer.message ? hooked : { ...hooked, message: { ...hooked.message } };
  } catch (error) {
    return { ...answer, failure: toNanoAgentError(error) };
  }
}

/** One id for two calls would leave one of them without a result. */
function assertCallIds({ message }: HookOutputs["reasoning"], isUsed: (id: string) => boolean): void {
  const own = new Set<string>();
  for (const { id, name } of toolCallsOf(message)) {
    if (id === "" || own.has(id) || isUsed(id)) {
      throw new NanoAgentError(
        "internal",
        `A hook of post_reasoning gave the call of ${name} the id "${id}", which is empty or in use: give it one of its own.`,
      );
    }
    own.add(id);
  }
}
