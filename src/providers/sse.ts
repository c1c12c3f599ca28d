import { createParser } from "eventsource-parser";
import { NanoAgentError } from "../core/base/errors.ts";
import { type Fields, isRecord } from "../core/base/json.ts";
import { clipped } from "../core/base/text.ts";

/** A parser of server-sent events that is fed text as it arrives. */
export interface SseParser {
  /** Takes the next piece of the body, cut anywhere; hands complete events over before it returns. */
  readonly push: (text: string) => void;
  /**
   * The body ended as it should. An event that lacks only its closing blank line is handed over: several
   * servers leave that out after their last one. Do not call it when the connection broke.
   */
  readonly end: () => void;
}

/** Options of {@link createSseParser}. */
interface SseOptions {
  /** Longest event accepted, in UTF-16 units. Default 64 Mi. A longer one throws `invalid_response`. */
  readonly maxEventLength?: number;
}

const MAX_EVENT_LENGTH = 64 * 1024 * 1024;
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Parses `text/event-stream` as the HTML standard describes it (section 9.2.6). `onEvent` gets the event's
 * name, empty when it has none, and its data lines joined by LF; comments, `id` and `retry` are skipped, and
 * an event whose data is empty is none.
 */
export function createSseParser(
  onEvent: (event: string, data: string) => void,
  { maxEventLength = MAX_EVENT_LENGTH }: SseOptions = {},
): SseParser {
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event = "", data }) => {
      if (data !== "") onEvent(event, data);
    },
    onError: ({ type }) => {
      // Fields and values it does not know are skipped.
      if (type === "max-buffer-size-exceeded") throw tooLong(maxEventLength);
    },
  });
  let isFirst = true;
  return {
    push: (text) => {
      parser.feed(isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
      if (text !== "") isFirst = false;
    },
    end: () => parser.feed("\n\n"),
  };
}

function tooLong(maxEventLength: number): NanoAgentError {
  return new NanoAgentError(
    "invalid_response",
    `The provider sent an event of more than ${maxEventLength} characters. Check that the base URL points to a model API.`,
    { details: { maxEventLength } },
  );
}

/** The value of one event's data. Broken JSON throws `invalid_response`, retryable: streams get garbled. */
export function parseEventData(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    const message = `The provider sent an event that is not JSON: ${clipped(data, 200)}`;
    throw new NanoAgentError("invalid_response", message, { cause, retryable: true });
  }
}

/** {@link parseEventData} for wires whose events are objects; anything else throws `invalid_response` too. */
export function parseEventObject(data: string): Fields {
  const value = parseEventData(data);
  if (isRecord(value)) return value;
  const message = `The provider sent an event that is not an object: ${data.slice(0, 200)}`;
  throw new NanoAgentError("invalid_response", message, { retryable: true });
}
