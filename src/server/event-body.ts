import { type Clock, startTimer } from "../core/base/clock.ts";
import type { StreamItem } from "./server-api.ts";

/** Options of {@link eventBody}. */
export interface EventBodyOptions {
  /** A result of `batches` that was taken before. */
  readonly first?: IteratorResult<readonly StreamItem[], void>;
  readonly clock: Clock;
  /** Called when the reader is gone. */
  readonly onEnd: () => void;
}

/** A line at least this often tells a reader, and everything between, that the connection stands. */
const COMMENT_MS = 15_000;

/** Batches of items as the body of a `text/event-stream`, made as fast as it is read. */
export function eventBody(
  batches: AsyncGenerator<readonly StreamItem[], void, undefined>,
  { first, clock, onEnd }: EventBodyOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = first && Promise.resolve(first);
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode("retry: 1000\n\n")),
    pull: async (controller) => {
      next ??= batches.next();
      const batch = await orSilence(next, clock);
      if (batch === undefined) {
        controller.enqueue(encoder.encode(": still here\n\n"));
        return;
      }
      next = undefined;
      if (batch.done === true) {
        controller.close();
        onEnd();
      } else controller.enqueue(encoder.encode(batch.value.map(eventText).join("")));
    },
    cancel: () => {
      onEnd();
      // It may rest between two batches, with nobody left who would ask for the next one.
      batches.return().catch(() => undefined);
    },
  });
}

/** The value of a promise; `undefined` when it takes longer than a reader should wait for a sign. */
function orSilence<T>(promise: Promise<T>, clock: Clock): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = startTimer(clock, COMMENT_MS, () => resolve(undefined));
    promise.then(resolve, reject).finally(stop);
  });
}

/** An item as an event. Entries alone have an id: what passes is nothing to go on behind. */
function eventText(item: StreamItem): string {
  if (item.type === "passing") return `event: passing\ndata: ${JSON.stringify(item.passing)}\n\n`;
  const { id } = item.entry;
  const line = /[\r\n\0]/.test(id) ? "" : `id: ${id}\n`;
  return `${line}event: entry\ndata: ${JSON.stringify(item.entry)}\n\n`;
}
