import type { AnswerItem, ThinkingItem, ViewItem } from "./view.ts";

/** An item before the list gave it its version. */
export type NewItem = ViewItem extends infer I ? (I extends ViewItem ? Omit<I, "version"> : never) : never;

/** Items of a view: appended and replaced in place, with a note of which have changed. */
export class ItemList {
  readonly items: ViewItem[];
  #changed = new Set<number>();

  /** `items`: the list to fill. Default: a new one. */
  constructor(items: ViewItem[] = []) {
    this.items = items;
  }

  /** Appends an item and returns its place. */
  add(item: NewItem): number {
    const at = this.items.push({ ...item, version: 1 }) - 1;
    this.#changed.add(at);
    return at;
  }

  /** The item at a place that {@link add} returned, if it is of a type. */
  at<T extends ViewItem["type"]>(
    place: number,
    type: T,
  ): Extract<ViewItem, { readonly type: T }> | undefined {
    const item = this.items[place];
    return item?.type === type ? (item as Extract<ViewItem, { readonly type: T }>) : undefined;
  }

  /** Puts fields of an item anew. */
  change<I extends ViewItem = AnswerItem | ThinkingItem>(
    place: number,
    fields: Partial<Omit<I, "version">>,
  ): void {
    const item = this.items[place];
    if (item === undefined) return;
    this.items[place] = { ...item, ...fields, version: item.version + 1 };
    this.#changed.add(place);
  }

  /** The places that are new or changed since the last look, in order. */
  take(): readonly number[] {
    if (this.#changed.size === 0) return NONE;
    const changed = [...this.#changed].sort((left, right) => left - right);
    this.#changed = new Set();
    return changed;
  }
}

const NONE: readonly number[] = [];
