import type { Agent } from "../agent/agent.ts";
import type { AgentEvent } from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import { assertInteger } from "../core/base/check-options.ts";
import { invalidArgument } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import { type Input, toUserMessages } from "../core/message/input.ts";
import type { UserMessage } from "../core/message/message.ts";
import { hasText } from "./pipelines.ts";

/** One reply in a hub. */
export interface HubTurn {
  readonly name: string;
  readonly result: RunResult;
}

/** How a discussion went. */
export interface HubResult {
  readonly turns: readonly HubTurn[];
  /** The last reply. */
  readonly text: string;
  /** `completed`: nobody was next · `max_turns`: no turns left · otherwise that of the last reply. */
  readonly stopReason: StopReason | "max_turns";
}

/** Options of {@link MessageHub.discuss}. */
export interface DiscussOptions {
  /**
   * Who speaks next, given the turns so far; `undefined` ends the discussion. Default: every member once, in
   * joining order. Members may speak repeatedly: `maxTurns` is the limit.
   */
  readonly next?: (turns: readonly HubTurn[]) => string | undefined;
  /** Default 20. */
  readonly maxTurns?: number;
  readonly signal?: AbortSignal;
  /** Called with every event of every member. */
  readonly onEvent?: (event: AgentEvent, name: string) => void;
}

/**
 * Agents that hear each other: what one replies, the others observe, so it is part of their conversations
 * when it is their turn. Members reply only when asked, so they cannot trigger each other endlessly.
 */
export class MessageHub {
  readonly #members = new Map<string, Agent>();

  /** Throws `invalid_argument` for an agent listed under two names. */
  constructor(members: { readonly [name: string]: Agent } = {}) {
    for (const [name, agent] of Object.entries(members)) this.add(name, agent);
  }

  /** Names of the members, in joining order. */
  get names(): readonly string[] {
    return [...this.#members.keys()];
  }

  /** Adds a member, which hears what is said from now on. Throws `invalid_argument` if it is one already. */
  add(name: string, agent: Agent): void {
    if (this.#members.has(name))
      throw invalidArgument(`"${name}" is in the hub already: choose another name.`);
    for (const [other, member] of this.#members) {
      if (member !== agent) continue;
      throw invalidArgument(`"${name}" and "${other}" are the same agent, which would hear itself.`);
    }
    this.#members.set(name, agent);
  }

  /** Removes a member; false if there is none of that name. Its conversation is unchanged. */
  remove(name: string): boolean {
    return this.#members.delete(name);
  }

  /** Has all members except `from` observe a message. Rejects as {@link Agent.observe} does. */
  async broadcast(message: Input, from?: string): Promise<void> {
    const messages = toUserMessages(message, "broadcast()").map((each) => withSpeaker(each, from));
    for (const [name, agent] of this.#members) if (name !== from) await agent.observe(messages);
  }

  /**
   * Asks one member, with `input` or what it has observed; the others observe its reply. A run without an
   * answer is returned but not passed on. Rejects with `invalid_argument` for an unknown name, and if the
   * member has nothing to reply to.
   */
  async reply(
    name: string,
    input?: Input,
    options: Omit<DiscussOptions, "next" | "maxTurns"> = {},
  ): Promise<RunResult> {
    const { signal, onEvent } = options;
    const result = await this.#member(name).run(
      input,
      omitUndefined({ signal, onEvent: onEvent && ((event: AgentEvent) => onEvent(event, name)) }),
    );
    if (hasText(result)) await this.broadcast(result.text, name);
    return result;
  }

  /**
   * Tells all members the `input` and lets them speak in turn until nobody is next, a run has no answer, or
   * the turns are used up; `stopReason` says which.
   */
  async discuss(input: Input, options: DiscussOptions = {}): Promise<HubResult> {
    const { next = this.#everyoneOnce, maxTurns = 20, ...reply } = options;
    assertInteger("maxTurns", maxTurns, 1);
    await this.broadcast(input);
    const turns: HubTurn[] = [];
    const end = (stopReason: HubResult["stopReason"]): HubResult => ({
      turns,
      text: turns.at(-1)?.result.text ?? "",
      stopReason,
    });
    for (let name = next(turns); name !== undefined; name = next(turns)) {
      if (turns.length === maxTurns) return end("max_turns");
      const result = await this.reply(name, undefined, reply);
      turns.push({ name, result });
      if (!hasText(result)) return end(result.stopReason);
    }
    return end("completed");
  }

  readonly #everyoneOnce = (turns: readonly HubTurn[]): string | undefined => this.names[turns.length];

  #member(name: string): Agent {
    const agent = this.#members.get(name);
    if (agent !== undefined) return agent;
    throw invalidArgument(`There is no "${name}" in the hub. Members: ${this.names.join(", ") || "none"}.`);
  }
}

/**
 * The message as others hear it, with the speaker's name in its text: not every provider has a field for it.
 */
function withSpeaker(message: UserMessage, from: string | undefined): UserMessage {
  if (from === undefined) return message;
  let isNamed = false;
  const content = message.content.map((block) => {
    if (isNamed || block.type !== "text") return block;
    isNamed = true;
    return { ...block, text: `${from}: ${block.text}` };
  });
  return { ...message, name: from, content };
}
