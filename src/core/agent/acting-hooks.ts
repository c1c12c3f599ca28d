import { toNanoAgentError } from "../base/errors.ts";
import type { ToolInput, ToolUseBlock } from "../message/block.ts";
import { errorResult } from "../tool/output.ts";
import type { ToolResult } from "../tool/tool.ts";
import type { ActingArguments } from "./hook.ts";
import type { RunContext } from "./run-context.ts";

/** A call after the hooks before it: the call to go on with, or why it does not run. */
export type HookedCall =
  | { readonly call: ToolUseBlock }
  | { readonly refused: string; readonly failed: boolean };

/** Passes a call through the hooks before it. A hook that throws refuses the call and ends the run after this turn. Never throws. */
export async function hookedCall(
  run: RunContext,
  call: ToolUseBlock,
  parentCallId: string | undefined,
): Promise<HookedCall> {
  const before = actingArguments(call, call.input, parentCallId ?? run.subagent?.callId);
  try {
    const { input, refuse } = await run.hooks.pre("acting", before);
    if (refuse !== undefined) return { refused: refuse, failed: false };
    if (input === before.input) return { call };
    const { type, id, name, provider_data: data } = call;
    return { call: { type, id, name, input, ...(data === undefined ? {} : { provider_data: data }) } };
  } catch (error) {
    const failure = toNanoAgentError(error);
    if (!run.signal.aborted) run.hooks.fail(failure);
    return { refused: `The call was not run. ${failure.message}`, failed: true };
  }
}

/**
 * Passes a result through the hooks after it. A hook that throws ends the run after this turn, and the result is withheld: what the
 * hook was to take out of it must not get through. Never throws.
 */
export async function hookedResult(
  run: RunContext,
  result: ToolResult,
  made: { readonly call: ToolUseBlock; readonly input: ToolInput; readonly parentCallId: string | undefined },
): Promise<ToolResult> {
  try {
    return await run.hooks.post(
      "acting",
      actingArguments(made.call, made.input, made.parentCallId ?? run.subagent?.callId),
      result,
    );
  } catch (error) {
    const failure = toNanoAgentError(error);
    if (!run.signal.aborted) run.hooks.fail(failure);
    return errorResult(`The result of the call is withheld. ${failure.message}`);
  }
}

function actingArguments(
  { id, name }: ToolUseBlock,
  input: ToolInput,
  parentCallId: string | undefined,
): ActingArguments {
  return { callId: id, name, input, ...(parentCallId === undefined ? {} : { parentCallId }) };
}
