import { createParser } from "eventsource-parser";
import { NanoAgentError } from "../core/base/errors.ts";
import { type Fields, isRecord, safeParse } from "../core/base/json.ts";
import { truncateEnd } from "../core/base/text.ts";

interface SseParser {
  /** Takes the next piece of the body, split anywhere; emits complete events before it returns. */
  readonly push: (text: string) => void;
  /**
   * The body ended normally. An event that lacks only its closing blank line is emitted: several servers omit
   * that after their last one. Do not call it if the connection broke.
   */
  readonly end: () => void;
}

const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Parses `text/event-stream` as the HTML standard describes it (section 9.2.6). `onEvent` gets the event's
 * name (empty if it has none) and its data lines joined by LF; comments, `id` and `retry` are skipped, and
 * events with empty data are ignored. One longer than `maxEventLength` (UTF-16 units) throws
 * `invalid_response`.
 */
export function createSseParser(
  onEvent: (event: string, data: string) => void,
  maxEventLength: number = Number.POSITIVE_INFINITY,
): SseParser {
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event = "", data }) => {
      if (data !== "") onEvent(event, data);
    },
    onError: ({ type }) => {
      // Unknown fields and values are skipped.
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

/** Parses an event to an object. Anything else throws `invalid_response`, retryable: streams get garbled. */
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
  const message = `The provider sent an event that is not ${what}: ${truncateEnd(data, 200)}`;
  return new NanoAgentError("invalid_response", message, { cause, retryable: true });
}

/**
 * Recognises events that differ from an earlier one only in one text (and in counters), so that the many
 * small events of a stream need no `JSON.parse`. Purely an optimisation: events it does not recognise must be
 * parsed.
 */
export interface DeltaTemplate {
  /** Uses a parsed event as the pattern from now on; ignored if the position of `key` is ambiguous. */
  readonly learn: (data: string, key: string) => void;
  /** The text in an event that matches the learned pattern, else `undefined`. */
  readonly match: (data: string) => string | undefined;
}

/**
 * Creates a template that has learned nothing yet. `ignore`: keys whose values (integers or strings) may vary
 * from event to event without significance.
 */
export function createDeltaTemplate(ignore: readonly string[]): DeltaTemplate {
  let pattern: RegExp | undefined;
  /** Events learned since one was last recognised. */
  let misses = 0;
  return {
    learn: (data, key) => {
      if (misses === MAX_MISSES) return;
      misses++;
      // Gives up on a stream without a pattern: trying on would only cost time.
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
/** Longer events gain nothing, and the regular expression may overflow the stack. */
const MAX_LENGTH = 65_536;
/** The content of a JSON string without raw control characters, and values that may vary between events. */
const CHARACTERS = String.raw`[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*`;
const VALUE = String.raw`"${CHARACTERS}"|\d+`;

/** Matches events like `data`, with the text of `key` as its group; undefined if its place is ambiguous. */
function patternOf(data: string, key: string, ignore: readonly string[]): RegExp | undefined {
  // A second occurrence would leave open which one was read.
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

/** Some servers pad events with a varying number of spaces before the last brackets. */
function endOf(rest: string): string {
  if (!/^[\]} ]*$/.test(rest)) return escaped(rest);
  return `${rest.replaceAll(" ", "").replaceAll(/[\]}]/g, String.raw` *\$&`)} *`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function textOf(literal: string): string | undefined {
  if (!literal.includes("\\")) return literal;
  const parsed = safeParse(`"${literal}"`);
  return parsed.ok && typeof parsed.value === "string" ? parsed.value : undefined;
}
