/** `write`, once for each object: what it wrote lives as long as the object, which must not change. */
export function serialiseOnce<T extends object, Text = string>(
  write: (value: T) => Text,
): (value: T) => Text {
  const texts = new WeakMap<T, Text>();
  return (value) => {
    const known = texts.get(value);
    if (known !== undefined) return known;
    const text = write(value);
    texts.set(value, text);
    return text;
  };
}

/** Two lists of JSON texts as one; either may be empty. */
export function listed(left: string, right: string): string {
  return left === "" || right === "" ? left + right : `${left},${right}`;
}

/**
 * JSON with a mark in the place of every half of a character (a lone surrogate). Providers refuse the whole
 * request for one, and with it whatever the conversation is asked later. Takes what `JSON.stringify` writes.
 */
export function wellFormedJson(json: string): string {
  return json.includes("\\ud")
    ? json.replace(ESCAPE, (found) => (found === "\\\\" ? found : "\\ufffd"))
    : json;
}

/** A half as `JSON.stringify` writes it; a backslash that is escaped itself begins none. */
const ESCAPE = /\\\\|\\ud[89a-f][0-9a-f]{2}/g;
