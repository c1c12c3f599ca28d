interface Entry<Item> {
  readonly order: number;
  readonly item: Item;
}

/**
 * Finds, among many patterns, those that could describe a text, by the characters before their first star. A
 * search costs as much as there are different lengths of those, not patterns; beginnings with a blank in them
 * cost one search together.
 */
export class HeadIndex<Item> {
  /** By the first word, where the beginning holds the whole of it. */
  readonly #byWord = new Map<string, Entry<Item>[]>();
  readonly #byHead = new Map<string, Entry<Item>[]>();
  readonly #lengths: readonly number[];

  /** Each item with the beginning that a text must have, which may be empty. */
  constructor(entries: Iterable<readonly [head: string, item: Item]>) {
    let order = 0;
    for (const [head, item] of entries) {
      const blank = head.indexOf(" ");
      const [map, key] = blank === -1 ? [this.#byHead, head] : [this.#byWord, head.slice(0, blank)];
      const known = map.get(key);
      if (known === undefined) map.set(key, [{ order, item }]);
      else known.push({ order, item });
      order++;
    }
    this.#lengths = [...new Set([...this.#byHead.keys()].map(({ length }) => length))];
  }

  /** The first item, in the order given, that fits; tried are those whose beginning the text may have. */
  find(text: string, fits: (item: Item) => boolean): Item | undefined {
    const blank = this.#byWord.size === 0 ? -1 : text.indexOf(" ");
    let first = blank === -1 ? undefined : firstOf(this.#byWord.get(text.slice(0, blank)), fits);
    for (const length of this.#lengths)
      if (length <= text.length) first = firstOf(this.#byHead.get(text.slice(0, length)), fits, first);
    return first?.item;
  }
}

/** The first entry that fits, or `known` where that comes before it. */
function firstOf<Item>(
  entries: readonly Entry<Item>[] | undefined,
  fits: (item: Item) => boolean,
  known?: Entry<Item>,
): Entry<Item> | undefined {
  if (entries === undefined) return known;
  for (const entry of entries) {
    if (known !== undefined && entry.order >= known.order) return known;
    if (fits(entry.item)) return entry;
  }
  return known;
}
