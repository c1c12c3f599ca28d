import type { ImageBlock } from "../../core/message/block.ts";

/** A message that waits. */
export interface QueuedMessage {
  readonly id: string;
  readonly text: string;
  /** What goes with the text; absent where nothing does. */
  readonly images?: readonly ImageBlock[];
}

/**
 * Messages that go out when the run at work has ended: all that wait together, as one message, unless one of
 * them is a command (it begins with
 * `/` and names one): that goes by itself, in its place. Every change is told by `onChange` of the session.
 */
export interface MessageQueue {
  readonly items: readonly QueuedMessage[];
  /** True: nothing goes out by itself, until {@link release}. Stopping a run holds the queue. */
  readonly held: boolean;
  /**
   * Adds a message at the end and returns its id. While no run is at work and nothing is held, it goes out at
   * once.
   */
  add(text: string, images?: readonly ImageBlock[]): string;
  /** Throws `invalid_argument` for an id that does not wait, here and below. The images stay. */
  edit(id: string, text: string): void;
  /** Moves a message to a place, from 0. */
  move(id: string, index: number): void;
  /** Takes a message back and returns its text. */
  remove(id: string): string;
  hold(): void;
  release(): void;
  /** Sends one message now: to the run at work as steering, else as the input of a run. */
  sendNow(id: string): void;
}
