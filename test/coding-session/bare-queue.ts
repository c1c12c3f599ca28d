import { type QueueHost, SessionQueue } from "../../src/coding/session/session-queue.ts";
import type { Input } from "../../src/core/message/input.ts";

/** A queue of a session whose run never ends, and which stores nothing, unless a part says otherwise. */
export function bareQueue(parts: Partial<QueueHost> = {}): {
  readonly queue: SessionQueue;
  /** The messages that were sent. */
  readonly sent: Input[];
} {
  const sent: Input[] = [];
  const agent = {
    sessionId: "one",
    pendingSteering: [],
    note: async () => ({}) as never,
    steer: () => "",
    unsteer: () => false,
  };
  const queue = new SessionQueue({
    agent: () => agent,
    hooks: undefined,
    isSaved: true,
    isCommand: (text) => text.startsWith("/"),
    runSignal: () => undefined,
    start: (input) => sent.push(input) > 0,
    onReady: () => undefined,
    onChange: () => undefined,
    onNotice: () => undefined,
    ...parts,
  });
  return { queue, sent };
}
