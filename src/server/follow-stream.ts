import { createParser, type EventSourceMessage } from "eventsource-parser";
import { startTimer } from "../core/base/async.ts";
import { headerOfId } from "./id-header.ts";
import type { PassingEvent, StreamItem } from "./server-api.ts";
import type { ServerLink } from "./server-link.ts";
import { ServerProblem } from "./server-problem.ts";

/** Options of {@link import("./create-reader.ts").Reader.follow}. */
export interface FollowOptions {
  /** Id of the last entry that is known. Default: from the first. */
  readonly after?: string;
  /** Ends the reading: the iteration ends then, without an error. */
  readonly signal?: AbortSignal;
  /** Hears of the connection: `open` once it stands, `lost` when it broke and is made again. */
  readonly onConnection?: (state: "open" | "lost", retry?: ConnectionRetry) => void;
}

/** The next attempt after a connection was lost. */
export interface ConnectionRetry {
  readonly inMs: number;
  /** Makes it at once. */
  readonly now: () => void;
}

/** A server says something every 30 s: one that was silent for longer is gone. */
const MAX_SILENCE_MS = 75_000;
const MAX_WAIT_MS = 10_000;

/** The stream at `path`, made again as often as it breaks, behind the last entry that came. */
export async function* followStream(
  link: ServerLink,
  path: string,
  { after, signal = new AbortController().signal, onConnection }: FollowOptions,
): AsyncGenerator<StreamItem, void, undefined> {
  let last = after;
  let failures = 0;
  while (!signal.aborted) {
    try {
      for await (const item of connection(link, path, {
        last,
        signal,
        onOpen: () => onConnection?.("open"),
      })) {
        failures = 0;
        if (item.type === "entry") last = item.entry.id;
        else if (item.passing.type === "reset") last = undefined;
        yield item;
      }
    } catch (error) {
      if (error instanceof ServerProblem && error.status < 500) throw error;
    }
    if (signal.aborted) return;
    const hurry = new AbortController();
    const inMs = Math.min(MAX_WAIT_MS, 250 * 2 ** failures++);
    onConnection?.("lost", { inMs, now: () => hurry.abort() });
    await link.clock.sleep(inMs, AbortSignal.any([signal, hurry.signal])).catch(() => undefined);
  }
}

interface ConnectionOptions {
  readonly last: string | undefined;
  readonly signal: AbortSignal;
  readonly onOpen: () => void;
}

/** One connection, to its end. */
async function* connection(
  link: ServerLink,
  path: string,
  { last, signal, onOpen }: ConnectionOptions,
): AsyncGenerator<StreamItem, void, undefined> {
  const silent = new AbortController();
  let stopTimer = (): void => undefined;
  const heard = (): void => {
    stopTimer();
    stopTimer = startTimer(link.clock, MAX_SILENCE_MS, () => silent.abort());
  };
  heard();
  try {
    const { body } = await link.request(path, {
      headers: {
        accept: "text/event-stream",
        ...(last === undefined ? {} : { "last-event-id": headerOfId(last) }),
      },
      signal: AbortSignal.any([signal, silent.signal]),
    });
    onOpen();
    if (body === null) return;
    const items: StreamItem[] = [];
    const parser = createParser({
      onEvent: (message) => {
        const item = itemOf(message);
        if (item !== undefined) items.push(item);
      },
    });
    // Not every browser iterates over a body.
    const reader = body.getReader();
    const decoder = new TextDecoder();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      heard();
      parser.feed(decoder.decode(read.value, { stream: true }));
      yield* items.splice(0);
    }
  } finally {
    stopTimer();
    // Whoever leaves the iteration leaves the connection.
    silent.abort();
  }
}

/** Events of other names are those of a newer server. */
function itemOf({ event, data }: EventSourceMessage): StreamItem | undefined {
  if (event === "entry") return { type: "entry", entry: JSON.parse(data) };
  if (event === "passing") return { type: "passing", passing: JSON.parse(data) as PassingEvent };
  return undefined;
}
