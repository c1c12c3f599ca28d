/** Memoises `write` per object: the text lives as long as the object, which must not change. */
export function memoizeByObject<T extends object, Text = string>(
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

/**
 * Replaces every lone surrogate in JSON. Providers refuse the whole request for one, and so every later
 * request of the conversation. Expects the output of `JSON.stringify`.
 */
export function wellFormedJson(json: string): string {
  return json.includes("\\ud")
    ? json.replace(ESCAPE, (found) => (found === "\\\\" ? found : "\\ufffd"))
    : json;
}

/** A lone surrogate as `JSON.stringify` writes it; an escaped backslash does not start one. */
const ESCAPE = /\\\\|\\ud[89a-f][0-9a-f]{2}/g;
