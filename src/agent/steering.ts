import type { NewEntry } from "../core/agent/entry.ts";
import { type NewId, newId } from "../core/base/ids.ts";
import type { UserBlock } from "../core/message/block.ts";

/** A message of {@link import("./agent.ts").Agent.steer} that no run has taken in yet. */
export interface SteeringMessage {
  readonly id: string;
  readonly content: readonly UserBlock[];
}

/** The messages that wait for the next model request, in order. */
export class SteeringQueue {
  readonly #newId: NewId;
  #waiting: SteeringMessage[] = [];

  constructor(ids: NewId = newId) {
    this.#newId = ids;
  }

  get messages(): readonly SteeringMessage[] {
    return this.#waiting.slice();
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(content: readonly UserBlock[]): string {
    const id = this.#newId("steering");
    this.#waiting.push({ id, content });
    return id;
  }

  /** False when there is none of that id any more. */
  remove(id: string): boolean {
    const at = this.#waiting.findIndex((each) => each.id === id);
    if (at !== -1) this.#waiting.splice(at, 1);
    return at !== -1;
  }

  /** Hands all of them over, as the entries that record them. */
  take(): readonly NewEntry[] {
    return this.#waiting.splice(0).map(({ id, content }) => ({
      type: "user_message",
      message: { role: "user", content },
      source: "steering",
      steeringId: id,
    }));
  }
}
