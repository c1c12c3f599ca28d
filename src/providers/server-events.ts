import { createParser } from "eventsource-parser";
import { NanoAgentError } from "../core/base/errors.ts";
import { type Fields, isRecord, safeParse } from "../core/base/json.ts";
import { clipped } from "../core/base/text.ts";

/** A parser of server-sent events that is fed text as it arrives. */
interface SseParser {
  /** Takes the next piece of the body, cut anywhere; hands complete events over before it returns. */
  readonly push: (text: string) => void;
  /**
   * The body ended as it should. An event that lacks only its closing blank line is handed over: several
   * servers leave that out after their last one. Do not call it when the connection broke.
   */
  readonly end: () => void;
}

const MAX_EVENT_LENGTH = 64 * 1024 * 1024;
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Parses `text/event-stream` as the HTML standard describes it (section 9.2.6). `onEvent` gets the event's
 * name, empty when it has none, and its data lines joined by LF; comments, `id` and `retry` are skipped, and
 * an event whose data is empty is none. One longer than `maxEventLength` (UTF-16 units) throws
 * `invalid_response`.
 */
export function createSseParser(
  onEvent: (event: string, data: string) => void,
  maxEventLength: number = MAX_EVENT_LENGTH,
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

/** An event as an object. Anything else throws `invalid_response`, retryable: streams get garbled. */
export function parseEvent(data: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw unusable(data, "JSON", cause);
  }
  if (!isRecord(value)) throw unusable(data, "an object");
  return value;
}

function unusable(data: string, what: string, cause?: unknown): NanoAgentError {
  const message = `The provider sent an event that is not ${what}: ${clipped(data, 200)}`;
  return new NanoAgentError("invalid_response", message, { cause, retryable: true });
}

/**
 * Recognises events that differ from one seen before only in one text (and in numbers that count events), so
 * that the many small events of a stream need no `JSON.parse`. Pure speed: whatever it does not recognise has
 * to be parsed.
 */
export interface DeltaTemplate {
  /** Takes a parsed event as the pattern from now on; ignored when the place of `key` is not certain. */
  readonly learn: (data: string, key: string) => void;
  /** The text in an event of the learned pattern, else `undefined`. */
  readonly match: (data: string) => string | undefined;
}

/**
 * Makes a template that has learned nothing yet. `ignore`: keys whose values (whole numbers or strings) may
 * change from event to event without meaning anything.
 */
export function createDeltaTemplate(ignore: readonly string[]): DeltaTemplate {
  let pattern: RegExp | undefined;
  /** Events learned since one was recognised. */
  let misses = 0;
  return {
    learn: (data, key) => {
      if (misses === MAX_MISSES) return;
      misses++;
      // A stream without a pattern is given up: trying on would only cost time.
      pattern = misses === MAX_MISSES ? undefined : patternOf(data, key, ignore);
    },
    match: (data) => {
      if (pattern === undefined || data.length > MAX_LENGTH) return undefined;
      const literal = pattern.exec(data)?.[1];
      if (literal === undefined) return undefined;
      misses = 0;
      return textOf(literal);
    },
  };
}

const MAX_MISSES = 100;
/** Longer events gain nothing, and an expression may run out of stack in them. */
const MAX_LENGTH = 65_536;
/** The characters of a JSON string, none of them a control character, and what may change between events. */
const CHARACTERS = String.raw`[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*`;
const VALUE = String.raw`"${CHARACTERS}"|\d+`;

/** Matches events like `data`, the text of `key` as its group; undefined when its place is not certain. */
function patternOf(data: string, key: string, ignore: readonly string[]): RegExp | undefined {
  // A second place would leave open which of the two was read.
  const names = [key, ...ignore].filter((name) => data.split(`"${name}":`).length === 2);
  if (names[0] !== key) return undefined;
  let source = "^";
  let at = 0;
  let hasText = false;
  for (const found of data.matchAll(new RegExp(`("(${names.join("|")})": *)(${VALUE})`, "gs"))) {
    const [whole, before = "", name, value = ""] = found;
    const isString = value.startsWith('"');
    const isText = name === key && isString;
    hasText ||= isText;
    const hole = isText ? `"(${CHARACTERS})"` : isString ? `"${CHARACTERS}"` : String.raw`\d+`;
    source += escaped(data.slice(at, found.index) + before) + hole;
    at = found.index + whole.length;
  }
  return hasText ? new RegExp(`${source}${endOf(data.slice(at))}$`, "s") : undefined;
}

/** Some pad their events with blanks before the last brackets, each by another number of them. */
function endOf(rest: string): string {
  if (!/^[\]} ]*$/.test(rest)) return escaped(rest);
  return `${rest.replaceAll(" ", "").replaceAll(/[\]}]/g, String.raw` *\$&`)} *`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** The text that a literal without its quotes stands for; undefined where that is not valid. */
function textOf(literal: string): string | undefined {
  if (!literal.includes("\\")) return literal;
  const parsed = safeParse(`"${literal}"`);
  return parsed.ok && typeof parsed.value === "string" ? parsed.value : undefined;
}
