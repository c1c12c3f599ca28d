import type { ImageBlock } from "../core/message/message.ts";

/** A message that waits. */
export interface QueuedMessage {
  readonly id: string;
  readonly text: string;
  /** Images that go with the text; absent where there are none. */
  readonly images?: readonly ImageBlock[];
}

/**
 * Messages that are sent when the run has ended: all of them as one message, unless one is a command, which
 * is sent alone, in its place. `onChange` of the session hears every change. What waits when a session is
 * closed is held when it is opened again.
 */
export interface MessageQueue {
  readonly items: readonly QueuedMessage[];
  /** True: nothing is sent until {@link release}. Stopping a run holds the queue. */
  readonly held: boolean;
  /** Adds a message at the end and returns its id. It goes out at once when nothing runs or is held. */
  add(text: string, images?: readonly ImageBlock[]): string;
  /** Throws `invalid_argument` for an id that does not wait, here and below. The images stay. */
  edit(id: string, text: string): void;
  /** Moves a message to a place, from 0. */
  move(id: string, index: number): void;
  /** Removes a message and returns its text. */
  remove(id: string): string;
  hold(): void;
  release(): void;
  /** Sends one message now: as steering when a run is active, else as the input of a new run. */
  sendNow(id: string): void;
  /**
   * Resolves when what waits is stored, for the next time; false: it ends with this process, as when the
   * session is not kept or the disk is full.
   */
  isStored(): Promise<boolean>;
}
