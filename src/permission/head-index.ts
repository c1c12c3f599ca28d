/**
 * Finds, among many patterns, those that could describe a text, by the characters before their first star. A search costs as much as
 * there are different lengths of those, not patterns.
 */
export class HeadIndex<Item> {
  readonly #byHead = new Map<string, { readonly order: number; readonly item: Item }[]>();
  readonly #lengths: readonly number[];

  /** Each item with the beginning that a text must have, which may be empty. */
  constructor(entries: Iterable<readonly [head: string, item: Item]>) {
    let order = 0;
    for (const [head, item] of entries) {
      const known = this.#byHead.get(head);
      if (known === undefined) this.#byHead.set(head, [{ order, item }]);
      else known.push({ order, item });
      order++;
    }
    this.#lengths = [...new Set([...this.#byHead.keys()].map(({ length }) => length))];
  }

  /** The first item, in the order they were given, whose beginning the text has and that fits. */
  find(text: string, fits: (item: Item) => boolean): Item | undefined {
    let first: { readonly order: number; readonly item: Item } | undefined;
    for (const length of this.#lengths) {
      if (length > text.length) continue;
      const entries = this.#byHead.get(length === text.length ? text : text.slice(0, length));
      for (const entry of entries ?? []) {
        if (first !== undefined && entry.order >= first.order) break;
        if (fits(entry.item)) first = entry;
      }
    }
    return first?.item;
  }
}
