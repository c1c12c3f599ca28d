import type { AgentEvent } from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import type { AssistantMessage, Message, ToolInput, UserMessage } from "../core/message/message.ts";
import type { FinishReason, ModelRequest } from "../core/model/model.ts";
import type { ToolRegistry, ToolResult } from "../core/tool/tool.ts";

/** The values hooks can see and replace before each step. */
export interface HookArguments {
  /** A run: its input; empty if the run resumes. */
  readonly reply: { readonly messages: readonly Message[] };
  /** One model request. Changes apply to this request only and are not recorded. */
  readonly reasoning: { readonly request: ModelRequest };
  /** A tool call as the model made it; validated and judged after the hooks. */
  readonly acting: ActingArguments;
  /** An event before observers and reader see it, except the last one. `undefined` hides it. */
  readonly print: { readonly event: AgentEvent | undefined };
  /** A message the agent takes in without answering. */
  readonly observe: { readonly message: UserMessage };
}

/** A tool call as hooks see it. */
export interface ActingArguments {
  readonly callId: string;
  readonly name: string;
  readonly input: ToolInput;
  /** The call that made this one (`batch`). */
  readonly parentCallId?: string;
  /** In `post_acting`: the call ran. Absent if it was refused or could not start. */
  readonly hasRun?: true;
  /** Set by a hook: the call does not run, and the model is told this text. */
  readonly refuse?: string;
}

/** The values hooks can see and replace after each step. */
export interface HookOutputs {
  readonly reply: RunResult;
  /** The answer before it is recorded. Calls may be changed or removed; new ones need ids of their own. */
  readonly reasoning: { readonly message: AssistantMessage; readonly finishReason: FinishReason };
  /** The result of a call before it is recorded, also of refused and failed calls. */
  readonly acting: ToolResult;
  readonly print: undefined;
  readonly observe: undefined;
}

/** The steps that hooks surround. */
export type HookMoment = keyof HookArguments;

/** Where a hook runs: `pre_` may replace the arguments, `post_` the output. */
export type HookPoint = `${"pre" | "post"}_${HookMoment}`;

/** A hook's view of its agent. */
export interface HookedAgent {
  readonly sessionId: string;
  readonly tools: ToolRegistry;
  /** See {@link import("../agent/agent.ts").Agent.steer}. */
  steer(message: string): void;
  /** See {@link import("../agent/agent.ts").Agent.stop}. */
  stop(reason?: string): void;
}

type Replacement<T> = T | null | undefined | void;
/** Print hooks are synchronous: the stream does not wait. */
type HookReturn<M extends HookMoment, T> = M extends "print"
  ? Replacement<T>
  : Replacement<T> | Promise<Replacement<T>>;

/** Runs before a step: gets the arguments and returns new ones, or `null` or `undefined` to keep them. */
export type PreHook<M extends HookMoment> = (
  agent: HookedAgent,
  args: HookArguments[M],
) => HookReturn<M, HookArguments[M]>;

/** Runs after a step: gets the arguments used and the output; returns a new output, or nothing to keep it. */
export type PostHook<M extends HookMoment> = (
  agent: HookedAgent,
  args: HookArguments[M],
  output: HookOutputs[M],
) => HookReturn<M, HookOutputs[M]>;

/** The type of hook at a point. */
export type Hook<P extends HookPoint> = P extends `pre_${infer M extends HookMoment}`
  ? PreHook<M>
  : P extends `post_${infer M extends HookMoment}`
    ? PostHook<M>
    : never;

/** Hooks in the options of an agent: one function per point, or several by name, in order. */
export type HookOptions = {
  readonly [P in HookPoint]?: Hook<P> | { readonly [name: string]: Hook<P> };
};

/** All points. */
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
