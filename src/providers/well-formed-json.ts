/**
 * JSON with a mark in the place of every half of a character (a lone surrogate). Providers refuse the whole request for one, and
 * with it whatever the conversation is asked later. Takes what `JSON.stringify` writes.
 */
export function wellFormedJson(json: string): string {
  return json.includes("\\ud")
    ? json.replace(ESCAPE, (found) => (found === "\\\\" ? found : "\\ufffd"))
    : json;
}

/** A half as `JSON.stringify` writes it; a backslash that is escaped itself begins none. */
const ESCAPE = /\\\\|\\ud[89a-f][0-9a-f]{2}/g;
