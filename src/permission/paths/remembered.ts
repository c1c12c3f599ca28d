import { statSync } from "node:fs";

/** No file system rounds the times of files to more milliseconds than this. */
const RACY_MS = 2_000;

/** What is read from a file, and read again where that has changed. */
export class Remembered<T, More extends readonly (string | number)[]> {
  readonly #known = new Map<string, { readonly stamp: string; readonly content: T }>();
  readonly #read: (path: string, ...more: More) => T;
  readonly #now: () => number;

  constructor(read: (path: string, ...more: More) => T, now: () => number = Date.now) {
    this.#read = read;
    this.#now = now;
  }

  of(path: string, ...more: More): T {
    const now = this.#now();
    const stats = statSync(path, { throwIfNoEntry: false });
    const stamp = `${stats?.ino} ${stats?.size} ${stats?.mtimeMs} ${stats?.ctimeMs} ${more.join(" ")}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known.content;
    const content = this.#read(path, ...more);
    // Right after a change another one may come within what the file system rounds its times to, and not show in them.
    if (now - (stats?.ctimeMs ?? 0) > RACY_MS) this.#known.set(path, { stamp, content });
    else this.#known.delete(path);
    return content;
  }
}
