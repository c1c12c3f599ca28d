import { safeParse } from "../core/base/json.ts";

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

/** Options of {@link createDeltaTemplate}. */
export interface DeltaTemplateOptions {
  /** Keys whose values (whole numbers or strings) may change from event to event without meaning anything. */
  readonly ignore: readonly string[];
}

/** Makes a template that has learned nothing yet. */
export function createDeltaTemplate({ ignore }: DeltaTemplateOptions): DeltaTemplate {
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
