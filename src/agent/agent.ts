import { Agent as Kernel } from "../core/agent/agent.ts";
import type { HookRegistry } from "../core/agent/hook-registry.ts";
import type { OutputOf, RunOptions } from "../core/agent/options.ts";
import { isAnswered, RunError, type RunResult, type StructuredResult } from "../core/agent/result.ts";
import type { SchemaInput } from "../core/base/schema.ts";
import type { Input } from "../core/message/given-message.ts";
import type { Model } from "../core/model/model.ts";
import { namedModel } from "./named-model.ts";

/**
 * A model, tools and a conversation. `run` and `stream` add to the conversation and work until an answer;
 * they are the same loop. One run at a time; any number of agents side by side. The model may be given by its
 * name, `provider/id[:effort]`: a name is checked when the agent is made (`invalid_argument`,
 * `unknown_provider`) and takes its key from the environment, at the first request.
 */
export class Agent extends Kernel {
  /**
   * Hooks of every agent of this class and the classes that extend it; those of `Agent` itself are for agents
   * of every kind.
   */
  static override get classHooks(): HookRegistry {
    return this === Agent ? Kernel.classHooks : super.classHooks;
  }

  protected static override modelOf(model: string | Model): Model {
    return typeof model === "string" ? namedModel(model) : model;
  }

  /**
   * The same as {@link Agent.run} for code that wants exceptions: rejects with {@link RunError} for every run
   * without an answer, and with a
   * `schema` for every run without the value.
   */
  runOrThrow<const S extends SchemaInput>(
    input: Input | undefined,
    options: RunOptions<S> & { readonly schema: S },
  ): Promise<StructuredResult<OutputOf<S>>>;
  runOrThrow(input?: Input, options?: RunOptions): Promise<RunResult>;
  async runOrThrow(input?: Input, options: RunOptions = {}): Promise<RunResult> {
    const result = await this.run(input, options);
    const isThere =
      options.schema === undefined ? isAnswered(result) : result.stopReason === "structured_output";
    if (!isThere) throw new RunError(result);
    return result;
  }
}
