import type { ImageBlock } from "../core/message/message.ts";

/** A queued message. */
export interface QueuedMessage {
  readonly id: string;
  readonly text: string;
  /** Images that go with the text; absent if there are none. */
  readonly images?: readonly ImageBlock[];
}

/**
 * Messages sent when the run has ended: all of them as one message, except commands, which are sent alone in
 * their turn. The session's `onChange` reports every change. Messages still queued when a session is closed
 * are held when it is reopened.
 */
export interface MessageQueue {
  readonly items: readonly QueuedMessage[];
  /** True: nothing is sent until {@link release}. Stopping a run holds the queue. */
  readonly held: boolean;
  /** Appends a message and returns its id. It is sent at once if nothing is running or held. */
  add(text: string, images?: readonly ImageBlock[]): string;
  /** Throws `invalid_argument` for an id that is not queued, as do the methods below. Keeps the images. */
  edit(id: string, text: string): void;
  /** Moves a message to an index, from 0. */
  move(id: string, index: number): void;
  /** Removes a message and returns its text. */
  remove(id: string): string;
  hold(): void;
  release(): void;
  /** Sends one message now: as steering if a run is active, else as the input of a new run. */
  sendNow(id: string): void;
  /**
   * Resolves when the queue is stored for the next time; false: it is lost when this process ends, because
   * the session is not kept or the disk is full.
   */
  isStored(): Promise<boolean>;
}
