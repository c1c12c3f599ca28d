/**
 * Whether a regular expression, cut out at the first delimiter without a backslash, ends there for every reader: no bracket expression
 * in it that some close later than others, and none that is left open.
 */
export function isPlainRegex(text: string): boolean {
  return !text.includes("[") || PLAIN.test(text);
}

/** No `]` first in brackets, none behind a backslash, no bracket inside but a class. */
const PLAIN = /^(?:[^[\\]|\\[^\n]|\[(?:\^|(?!\^))(?:\[:[a-z]+:\]|\\[^\]\n]|[^[\]\\\n])+\])*$/s;
