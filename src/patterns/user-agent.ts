import { Agent } from "../agent/agent.ts";
import type { AgentStream } from "../agent/agent-stream.ts";
import type { AgentOptions, OutputOf, RunOptions } from "../agent/options.ts";
import type { RunResult } from "../core/agent/result.ts";
import type { SchemaInput } from "../core/base/schema.ts";
import type { Input } from "../core/message/input.ts";
import { type PersonInput, toAsk } from "./person-input.ts";
import { PersonModel } from "./person-model.ts";

/** How a {@link UserAgent} is made. */
export interface UserAgentOptions
  extends Pick<AgentOptions, "journal" | "messages" | "sessionId" | "budget" | "maxIterations"> {
  /** Where the answers come from. */
  readonly input: PersonInput;
  /** The question to the person when a run has no input. Default `Your message:`. */
  readonly prompt?: string;
  /** Names the person in the journal. Default `user`. */
  readonly name?: string;
}

/**
 * A person as an agent: what a run is given is shown as a question, what the person answers is the result.
 * With a schema every field is asked for on its own and required ones cannot be skipped. It has a
 * conversation, events and a journal as every agent has.
 */
export class UserAgent extends Agent {
  readonly #prompt: string;

  /** Throws `invalid_argument` for an input that cannot be asked. */
  constructor(options: UserAgentOptions) {
    const { input, prompt = "Your message:", name = "user", ...own } = options;
    super({ ...own, model: new PersonModel(toAsk(input), name), onMaxIterations: "last" });
    this.#prompt = prompt;
  }

  /** Asks the person. Without an input: what was said since their last answer, else the `prompt`. */
  override run<const S extends SchemaInput = SchemaInput<unknown>>(
    input?: Input,
    options?: RunOptions<S>,
  ): Promise<RunResult<OutputOf<S>>> {
    return super.run(input ?? this.#question(), options);
  }

  /** The same as {@link UserAgent.run}, event by event. */
  override stream<const S extends SchemaInput = SchemaInput<unknown>>(
    input?: Input,
    options?: RunOptions<S>,
  ): AgentStream<OutputOf<S>> {
    return super.stream(input ?? this.#question(), options);
  }

  #question(): string | undefined {
    return this.getState().messages.at(-1)?.role === "user" ? undefined : this.#prompt;
  }
}
