import { Agent as CoreAgent } from "../core/agent/agent.ts";
import type { HookRegistry } from "../core/agent/hook-registry.ts";
import type { AgentOptions as CoreOptions } from "../core/agent/options.ts";
import type { Effort, Model } from "../core/model/model.ts";
import { namedModel } from "./named-model.ts";

/** How an {@link Agent} is made. */
export type AgentOptions = WithModelName<CoreOptions>;

/**
 * A model, tools and a conversation. `run` and `stream` add to the conversation and work until an answer; they are the same loop.
 * One run at a time; any number of agents side by side.
 */
export class Agent extends CoreAgent {
  /** Hooks of every agent of this class and the classes that extend it; those of `Agent` itself are for agents of every kind. */
  static override get classHooks(): HookRegistry {
    return this === Agent ? CoreAgent.classHooks : super.classHooks;
  }

  /** Throws `invalid_argument` or `unknown_provider` for options that cannot work. Makes no request and writes nothing. */
  constructor(options: AgentOptions) {
    super(withModel<CoreOptions>(options));
  }

  /** See {@link CoreAgent.setModel}; the model may be given by its name. */
  override setModel(
    model: string | Model,
    options?: { readonly effort?: Effort | undefined },
  ): Promise<void> {
    return super.setModel(toModel(model), options);
  }
}

/** Options in which the model may be given by its name. */
export type WithModelName<O extends { readonly model: Model }> = Omit<O, "model"> & {
  /** A model, or the name of one, `provider/id[:effort]`. A name takes its key from the environment, at the first request. */
  readonly model: string | Model;
};

/** Options whose model is one, whether it came by name or not. */
export function withModel<O extends { readonly model: Model }>(options: WithModelName<O>): O {
  return { ...options, model: toModel(options?.model) } as unknown as O;
}

/** The model a name stands for, and a model as it is. */
export function toModel(model: string | Model): Model {
  return typeof model === "string" ? namedModel(model) : model;
}
