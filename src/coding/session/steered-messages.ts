import type { Agent } from "../../agent/agent.ts";
import type { SteeringMessage } from "../../agent/agent-session.ts";
import type { UserBlock } from "../../core/message/block.ts";
import { textOf } from "../../core/message/message.ts";
import type { LiveRun } from "./live-run.ts";
import type { SessionParts } from "./session-parts.ts";
import type { WaitingMessages } from "./waiting-messages.ts";

/** Options of {@link SteeredMessages}. */
export interface SteeredMessagesOptions {
  readonly parts: Pick<SessionParts, "composed" | "notices">;
  readonly agent: () => Agent;
  readonly queue: WaitingMessages;
  /** Puts a message into the queue, and returns its id. */
  readonly wait: (content: SteeringContent) => string;
  /** The run at work. */
  readonly run: () => LiveRun | undefined;
  readonly onChange: () => void;
}

/** The content of a message that steers. */
export type SteeringContent = string | readonly UserBlock[];

/** Messages for the run at work. Where hooks judge messages, each waits in the queue until they have. */
export class SteeredMessages {
  readonly #options: SteeredMessagesOptions;
  /** Messages that hooks have judged, as they were said, by what is sent; gone with it. */
  readonly #said = new WeakMap<SteeringMessage, SteeringMessage>();
  /** Hooks judge one message after the other. */
  #judging: Promise<void> = Promise.resolve();

  constructor(options: SteeredMessagesOptions) {
    this.#options = options;
  }

  /** Those the model has not got yet, as they were said. */
  get pending(): readonly SteeringMessage[] {
    return this.#options.agent().pendingSteering.map((message) => this.#said.get(message) ?? message);
  }

  /** Sends a message to the run at work, and returns its id. */
  add(content: SteeringContent): string {
    const { parts, agent, queue, wait, run, onChange } = this.#options;
    if (parts.composed.hooks?.hasSubmit === true) {
      const id = wait(content);
      const [item, atWork] = [queue.items.find((each) => each.id === id), run()];
      // Edited, taken back or too late: it is judged where it goes out.
      const isOver = (): boolean => item === undefined || !queue.items.includes(item) || run() !== atWork;
      const judge = (): Promise<void> => this.#judge(id, content, isOver);
      this.#judging = this.#judging.then(judge).catch(() => undefined);
      return id;
    }
    const id = agent().steer(content);
    onChange();
    return id;
  }

  /** Takes a message back, and returns its text; `undefined` when the model has it. */
  remove(id: string): string | undefined {
    const { agent, onChange } = this.#options;
    const at = this.pending.findIndex((each) => each.id === id);
    const { content } = this.pending[at] ?? {};
    const sent = agent().pendingSteering[at];
    if (content === undefined || sent === undefined || !agent().unsteer(sent.id)) return undefined;
    onChange();
    return textOf(content);
  }

  async #judge(id: string, content: SteeringContent, isOver: () => boolean): Promise<void> {
    const { parts, agent, queue, run, onChange } = this.#options;
    const signal = run()?.signal;
    if (signal === undefined || isOver()) return;
    const said = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
    const verdict = await parts.composed.hooks?.submit(textOf(said), signal);
    if (verdict === undefined || isOver()) return;
    queue.remove(id);
    const { blocked, context } = verdict;
    const added = context.map((text) => ({ type: "text", text: `\n\n${text}` }) as const);
    const message = `The message was not sent: ${blocked}`;
    if (blocked !== undefined) parts.notices.add({ level: "warning", code: "hook", message });
    else {
      agent().steer([...said, ...added]);
      const sent = agent().pendingSteering.at(-1);
      if (sent !== undefined) this.#said.set(sent, { id, content: said });
    }
    onChange();
  }
}
