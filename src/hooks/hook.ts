import type { AgentEvent } from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import type { AssistantMessage, Message, ToolInput, UserMessage } from "../core/message/message.ts";
import type { FinishReason, ModelRequest } from "../core/model/model.ts";
import type { ToolRegistry, ToolResult } from "../core/tool/tool.ts";

/** The values that hooks may see and replace before something happens, by moment. */
export interface HookArguments {
  /** A run: its input, empty for a run that goes on. */
  readonly reply: { readonly messages: readonly Message[] };
  /** One model request. What a hook changes in it holds for this request and is not recorded. */
  readonly reasoning: { readonly request: ModelRequest };
  /** One tool call, as the model made it: it is checked and judged by permission after the hooks. */
  readonly acting: ActingArguments;
  /** An event on its way to the observers and the reader, except the last. `undefined` shows nothing. */
  readonly print: { readonly event: AgentEvent | undefined };
  /** A message the agent takes in without answering. */
  readonly observe: { readonly message: UserMessage };
}

/** A tool call hooks look at. */
export interface ActingArguments {
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  /** Call this one was made by (`batch`). */
  readonly parentCallId?: string;
  /** After the call: it ran. Absent where it was refused, or could not be made. */
  readonly hasRun?: true;
  /** Set by a hook: the call does not run, and the model is told this text. */
  readonly refuse?: string;
}

/** The values that hooks may see and replace after something happened, by moment. */
export interface HookOutputs {
  readonly reply: RunResult;
  /** The answer, before it is recorded. Its calls may be changed or left out; new ones need own ids. */
  readonly reasoning: { readonly message: AssistantMessage; readonly finishReason: FinishReason };
  /** The result of the call, refused and failed ones included, before it is recorded. */
  readonly acting: ToolResult;
  readonly print: undefined;
  readonly observe: undefined;
}

/** The moments that hooks stand around. */
export type HookMoment = keyof HookArguments;

/** Where a hook stands: `pre_` may replace the arguments, `post_` the output. */
export type HookPoint = `${"pre" | "post"}_${HookMoment}`;

/** The facts a hook gets about its agent. */
export interface HookedAgent {
  readonly sessionId: string;
  readonly tools: ToolRegistry;
  /** See {@link import("../agent/agent.ts").Agent.steer}. */
  steer(message: string): void;
  /** See {@link import("../agent/agent.ts").Agent.stop}. */
  stop(reason?: string): void;
}

type Replacement<T> = T | null | undefined | void;
/** Print hooks stand in the stream, which waits for nobody. */
type Replies<M extends HookMoment, T> = M extends "print"
  ? Replacement<T>
  : Replacement<T> | Promise<Replacement<T>>;

/** Before: gets the arguments and returns new ones, or `null` or `undefined` to leave them. */
export type PreHook<M extends HookMoment> = (
  agent: HookedAgent,
  args: HookArguments[M],
) => Replies<M, HookArguments[M]>;

/** After: gets the arguments as used and the output; returns a new output, or nothing to leave it. */
export type PostHook<M extends HookMoment> = (
  agent: HookedAgent,
  args: HookArguments[M],
  output: HookOutputs[M],
) => Replies<M, HookOutputs[M]>;

/** The function of a hook at a point. */
export type Hook<P extends HookPoint> = P extends `pre_${infer M extends HookMoment}`
  ? PreHook<M>
  : P extends `post_${infer M extends HookMoment}`
    ? PostHook<M>
    : never;

/** Hooks given with the options of an agent: one function a point, or several by name, in order. */
export type HookOptions = {
  readonly [P in HookPoint]?: Hook<P> | { readonly [name: string]: Hook<P> };
};

/** Every point. */
export const HOOK_POINTS: readonly HookPoint[] = [
  "pre_reply",
  "post_reply",
  "pre_reasoning",
  "post_reasoning",
  "pre_acting",
  "post_acting",
  "pre_print",
  "post_print",
  "pre_observe",
  "post_observe",
];
