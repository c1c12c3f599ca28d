import { isNanoAgentError } from "../core/base/errors.ts";

/** How events become frames. */
export interface ServerSentEventOptions {
  /** False leaves the `event:` line out, for readers that look at the data only. Default true. */
  readonly names?: boolean;
}

/** Headers a response of server-sent events needs; the last one keeps proxies from holding frames back. */
export const SERVER_SENT_EVENT_HEADERS: { readonly [name: string]: string } = Object.freeze({
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
});

/**
 * Events as frames of a `text/event-stream`: `event:` with the type, `data:` with the event as one line of
 * JSON, a blank line. Throws what the events throw. Source: HTML Standard, 9.2.5 "Parsing an event stream".
 */
export async function* toServerSentEvents(
  events: AsyncIterable<{ readonly type: string }>,
  { names = true }: ServerSentEventOptions = {},
): AsyncGenerator<string, void, undefined> {
  for await (const event of events) {
    yield `${names ? `event: ${event.type}\n` : ""}data: ${toJson(event)}\n\n`;
  }
}

/** Events as JSON lines, each ended by a line feed. Throws what the events throw. */
export async function* toJsonLines(events: AsyncIterable<unknown>): AsyncGenerator<string, void, undefined> {
  for await (const event of events) yield `${toJson(event)}\n`;
}

/** JSON in which an error is `{ code?, message }` and a value without JSON, a big integer say, a text. */
function toJson(event: unknown): string {
  return JSON.stringify(event, (_key, value: unknown) => {
    if (value instanceof Error)
      return { ...(isNanoAgentError(value) ? { code: value.code } : {}), message: value.message };
    return typeof value === "bigint" ? String(value) : value;
  });
}
