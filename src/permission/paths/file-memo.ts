import { type Stats, statSync } from "node:fs";

/** No file system rounds the times of files to more milliseconds than this. */
const RACY_MS = 2_000;

interface Reading<T, More> {
  readonly content: T;
  /** The file as it was; `undefined` where there was none. */
  readonly stats: Stats | undefined;
  readonly more: More;
}

/** A value that is read from a file, and read again where that has changed. */
export class FileMemo<T, More extends readonly (string | number)[]> {
  readonly #known = new Map<string, Reading<T, More>>();
  readonly #read: (path: string, ...more: More) => T;
  readonly #now: () => number;

  constructor(read: (path: string, ...more: More) => T, now: () => number = Date.now) {
    this.#read = read;
    this.#now = now;
  }

  of(path: string, ...more: More): T {
    const now = this.#now();
    const stats = statSync(path, { throwIfNoEntry: false });
    const known = this.#known.get(path);
    if (known !== undefined && isUnchanged(known.stats, stats) && isEqual(known.more, more))
      return known.content;
    const content = this.#read(path, ...more);
    // A second change may fall within the rounding of the file system's times, and not show in them.
    if (now - (stats?.ctimeMs ?? 0) > RACY_MS) this.#known.set(path, { content, stats, more });
    else this.#known.delete(path);
    return content;
  }
}

function isUnchanged(one: Stats | undefined, other: Stats | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.ino === other.ino &&
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs
  );
}

function isEqual(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.every((each, at) => each === other[at]);
}
