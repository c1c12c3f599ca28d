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

/** Text of the beginning of a list, and what has to be known to go on behind it. */
export interface ListText<State> {
  readonly text: string;
  readonly state: State;
}

/**
 * Serialises lists that grow at their end, as transcripts do: the text of the beginning is kept and only what
 * is new is written. `append`, a pure function, gives text and state after one more item; `initial` is known
 * before the first. The last `tail` items are written every time (by the caller's own means, with marks for
 * caching, say). A list that does not begin with what is kept is written from its start. Lists are told apart
 * by their first item, so many conversations can share one serialiser.
 */
export function createListSerialiser<T extends object, State>(
  initial: State,
  append: (text: string, item: T, state: State) => ListText<State>,
  tail: number,
): (items: readonly T[]) => ListText<State> & { readonly written: number } {
  const heads = new WeakMap<T, { readonly items: T[]; text: string; state: State }>();
  return (items) => {
    const count = items.length - tail;
    const first = items[0];
    if (count <= 0 || first === undefined) return { text: "", state: initial, written: 0 };
    let head = heads.get(first);
    if (head === undefined || !startsWith(items, head.items, count)) {
      head = { items: [], text: "", state: initial };
      heads.set(first, head);
    }
    for (let index = head.items.length; index < count; index++) {
      const item = items[index] as T;
      const { text, state } = append(head.text, item, head.state);
      head.text = text;
      head.state = state;
      head.items.push(item);
    }
    return { text: head.text, state: head.state, written: count };
  };
}

function startsWith<T>(items: readonly T[], head: readonly T[], count: number): boolean {
  if (head.length > count) return false;
  for (let index = 0; index < head.length; index++) if (items[index] !== head[index]) return false;
  return true;
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
