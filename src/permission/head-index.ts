interface Entry<Item> {
  readonly order: number;
  readonly item: Item;
}

/**
 * Finds, among many patterns, those that could describe a text, by the characters before their first star. A search costs as much as
 * there are different lengths of those, not patterns; beginnings with a blank in them cost one search together.
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

  /** The first item, in the order they were given, that fits; only those are tried whose beginning the text may have. */
  find(text: string, fits: (item: Item) => boolean): Item | undefined {
    let first: Entry<Item> | undefined;
    const search = (entries: readonly Entry<Item>[] = []): void => {
      for (const entry of entries) {
        if (first !== undefined && entry.order >= first.order) return;
        if (fits(entry.item)) first = entry;
      }
    };
    const blank = this.#byWord.size === 0 ? -1 : text.indexOf(" ");
    if (blank !== -1) search(this.#byWord.get(text.slice(0, blank)));
    for (const length of this.#lengths)
      if (length <= text.length)
        search(this.#byHead.get(length === text.length ? text : text.slice(0, length)));
    return first?.item;
  }
}
