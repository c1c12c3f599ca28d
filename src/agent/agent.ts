import { Agent as Kernel } from "../core/agent/agent.ts";
import type { HookRegistry } from "../core/agent/hook-registry.ts";
import type { Model } from "../core/model/model.ts";
import { namedModel } from "./named-model.ts";

/**
 * A model, tools and a conversation. `run` and `stream` add to the conversation and work until an answer; they are the same loop.
 * One run at a time; any number of agents side by side. The model may be given by its name, `provider/id[:effort]`: a name is checked when the
 * agent is made (`invalid_argument`, `unknown_provider`) and takes its key from the environment, at the first request.
 */
export class Agent extends Kernel {
  /** Hooks of every agent of this class and the classes that extend it; those of `Agent` itself are for agents of every kind. */
  static override get classHooks(): HookRegistry {
    return this === Agent ? Kernel.classHooks : super.classHooks;
  }

  protected static override modelOf(model: string | Model): Model {
    return typeof model === "string" ? namedModel(model) : model;
  }
}
