import type { Agent } from "../agent/agent.ts";
import type { AgentEvent } from "../core/agent/entries.ts";
import type { RunResult } from "../core/agent/result.ts";
import { assertCount } from "../core/base/check.ts";
import { misuse } from "../core/base/errors.ts";
import { defined } from "../core/base/json.ts";
import type { StopReason } from "../core/base/stop-reason.ts";
import { type Input, spokenMessages } from "../core/message/input.ts";
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
  /** `completed`: nobody left to speak · `max_turns`: turns used up · else as the last reply ended. */
  readonly stopReason: StopReason | "max_turns";
}

/** How {@link MessageHub.discuss} goes. */
export interface DiscussOptions {
  /**
   * Who speaks next, given the turns so far; `undefined` ends the discussion. Default: every member once, in
   * the order in which they joined. Members may come again and again: `maxTurns` bounds that.
   */
  readonly next?: (turns: readonly HubTurn[]) => string | undefined;
  /** Default 20. */
  readonly maxTurns?: number;
  readonly signal?: AbortSignal;
  /** Sees every event of every member. */
  readonly onEvent?: (event: AgentEvent, name: string) => void;
}

/**
 * Agents that hear each other: what one of them replies, the others observe, so that it is in their
 * conversations at their turn. Nobody replies unasked, so members cannot set each other off endlessly.
 */
export class MessageHub {
  readonly #members = new Map<string, Agent>();

  /** Throws `invalid_argument` for an agent that stands under two names. */
  constructor(members: { readonly [name: string]: Agent } = {}) {
    for (const [name, agent] of Object.entries(members)) this.add(name, agent);
  }

  /** Names of the members, in the order in which they joined. */
  get names(): readonly string[] {
    return [...this.#members.keys()];
  }

  /** Lets an agent join; it hears what is said from now on. Throws `invalid_argument`: already there. */
  add(name: string, agent: Agent): void {
    if (this.#members.has(name)) throw misuse(`"${name}" is in the hub already: choose another name.`);
    for (const [other, member] of this.#members) {
      if (member !== agent) continue;
      throw misuse(`"${name}" and "${other}" are the same agent, which would hear itself.`);
    }
    this.#members.set(name, agent);
  }

  /** Lets a member leave; false when there is none of that name. Its conversation stays as it is. */
  remove(name: string): boolean {
    return this.#members.delete(name);
  }

  /** Lets all members but the one it is `from` observe a message. Rejects as {@link Agent.observe} does. */
  async broadcast(message: Input, from?: string): Promise<void> {
    const heard = spokenMessages(message, "broadcast()").map((each) => named(each, from));
    for (const [name, agent] of this.#members) if (name !== from) await agent.observe(heard);
  }

  /**
   * Asks one member, by the `input` or by what it has observed; the others observe its reply. A run without
   * an answer is returned and not passed on. Rejects with `invalid_argument` for an unknown name, and when
   * the member has nothing to reply to.
   */
  async reply(
    name: string,
    input?: Input,
    options: Omit<DiscussOptions, "next" | "maxTurns"> = {},
  ): Promise<RunResult> {
    const { signal, onEvent } = options;
    const result = await this.#member(name).run(
      input,
      defined({ signal, onEvent: onEvent && ((event: AgentEvent) => onEvent(event, name)) }),
    );
    if (hasText(result)) await this.broadcast(result.text, name);
    return result;
  }

  /**
   * Tells all members the `input` and lets them speak in turn until nobody is next, a run gives no answer, or
   * the turns are used up, which `stopReason` then says.
   */
  async discuss(input: Input, options: DiscussOptions = {}): Promise<HubResult> {
    const { next = this.#everyoneOnce, maxTurns = 20, ...reply } = options;
    assertCount("maxTurns", maxTurns, 1);
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
    throw misuse(`There is no "${name}" in the hub. Members: ${this.names.join(", ") || "none"}.`);
  }
}

/** The message as others hear it: with the name of who said it, which not every provider has a field for. */
function named(message: UserMessage, from: string | undefined): UserMessage {
  if (from === undefined) return message;
  let isNamed = false;
  const content = message.content.map((block) => {
    if (isNamed || block.type !== "text") return block;
    isNamed = true;
    return { ...block, text: `${from}: ${block.text}` };
  });
  return { ...message, name: from, content };
}
