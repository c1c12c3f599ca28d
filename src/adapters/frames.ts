import { isNanoAgentError } from "../core/base/errors.ts";

/** Options of {@link toServerSentEvents}. */
export interface ServerSentEventOptions {
  /** False omits the `event:` line, for readers that only look at the data. Default true. */
  readonly names?: boolean;
}

/** Response headers for server-sent events; the last one keeps proxies from buffering frames. */
export const SERVER_SENT_EVENT_HEADERS: { readonly [name: string]: string } = Object.freeze({
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
});

/**
 * Events as frames of a `text/event-stream`: `event:` with the type, `data:` with the event as one line of
 * JSON, a blank line. Rethrows errors of `events`. Source: HTML Standard, 9.2.5 "Parsing an event stream".
 */
export async function* toServerSentEvents(
  events: AsyncIterable<{ readonly type: string }>,
  { names = true }: ServerSentEventOptions = {},
): AsyncGenerator<string, void, undefined> {
  for await (const event of events) {
    yield `${names ? `event: ${event.type}\n` : ""}data: ${toJson(event)}\n\n`;
  }
}

/** Events as JSON lines, each ended by a line feed. Rethrows errors of `events`. */
export async function* toJsonLines(events: AsyncIterable<unknown>): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield `${toJson(event)}\n`;
}

/** JSON with errors as `{ code?, message }` and big integers, which JSON does not support, as strings. */
function toJson(event: unknown): string {
  return JSON.stringify(event, (_key, value: unknown) => {
    if (value instanceof Error)
      return { ...(isNanoAgentError(value) ? { code: value.code } : {}), message: value.message };
    return typeof value === "bigint" ? String(value) : value;
  });
}
