import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { FoundText, TextSearch } from "./text-search.ts";

interface FoundListOptions {
  readonly mode: TextSearch["mode"];
  /** Results at most: files, or matching lines. */
  readonly limit: number;
  /** True when lines that do not follow one another are set apart. */
  readonly marksGaps: boolean;
  readonly pathShown: (path: string) => string;
}

/** Collects what a search finds, up to a number of results and of bytes, and writes it down for the model. */
export class FoundList {
  readonly #options: FoundListOptions;
  readonly #lines: string[] = [];
  readonly #paths: string[] = [];
  #bytes = 0;
  #size = 0;
  #total = 0;
  #isCut = false;
  #lastNumber = 0;

  constructor(options: FoundListOptions) {
    this.#options = options;
  }

  /** Number of results: files, or matching lines. */
  get size(): number {
    return this.#size;
  }

  /** The files something was found in, as they came. */
  get paths(): readonly string[] {
    return this.#paths;
  }

  /** Takes a result; false when there is no room for it. */
  add(found: FoundText): boolean {
    const isResult = found.line?.isMatch ?? true;
    const max = this.#options.mode === "files" ? MAX_SORTED_FILES : this.#options.limit;
    if ((isResult && this.#size >= max) || this.#bytes > MAX_BYTES) {
      this.#isCut = true;
      return false;
    }
    if (isResult) this.#size++;
    const isNewFile = found.path !== this.#paths.at(-1);
    if (isNewFile) this.#paths.push(found.path);
    if (found.line !== undefined) this.#addLine(found.path, found.line, isNewFile);
    if (found.count !== undefined) {
      this.#total += found.count;
      this.#write(`${this.#options.pathShown(found.path)}: ${found.count}`);
    }
    return true;
  }

  /** The text of lines or counts; empty when nothing was found. */
  text(): string {
    const notes = this.#isCut
      ? [
          `[Only the first ${this.#size === 1 ? "result is" : `${this.#size} results are`} shown. Narrow the search.]`,
        ]
      : [];
    if (this.#options.mode === "count" && this.#size > 1)
      notes.unshift(`${this.#total} in ${this.#size} files`);
    return [...this.#lines, ...notes].join("\n");
  }

  /** The text of a list of files; `sorted` are the paths in the order wanted. */
  filesText(sorted: readonly string[]): string {
    for (const path of sorted.slice(0, this.#options.limit)) {
      if (this.#bytes > MAX_BYTES) break;
      this.#write(this.#options.pathShown(path));
    }
    const all = `${this.#isCut ? "more than " : ""}${sorted.length}`;
    const shown = this.#lines.length;
    const note = shown < sorted.length ? [`[The newest ${shown} of ${all} files. Narrow the search.]`] : [];
    return [...this.#lines, ...note].join("\n");
  }

  #addLine(path: string, line: NonNullable<FoundText["line"]>, isNewFile: boolean): void {
    if (isNewFile) this.#write(`${this.#lines.length === 0 ? "" : "\n"}${this.#options.pathShown(path)}`);
    else if (this.#options.marksGaps && line.number > this.#lastNumber + 1) this.#write("--");
    this.#write(`${line.number}${line.isMatch ? ":" : "-"}${line.text}`);
    this.#lastNumber = line.number;
  }

  #write(line: string): void {
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line) + 1;
  }
}

const MAX_BYTES = 30_000;
/** Files that are sorted by time; where there are more, the first that came. */
const MAX_SORTED_FILES = 10_000;

/** Paths below a folder, newest first, then by name. Files that are gone come last. */
export async function newestFirst(folder: string, paths: readonly string[]): Promise<readonly string[]> {
  const times = new Map<string, number>();
  for (let start = 0; start < paths.length; start += BATCH) {
    await Promise.all(
      paths
        .slice(start, start + BATCH)
        .map(async (path) => times.set(path, await timeOf(join(folder, path)))),
    );
  }
  const timed = (path: string) => times.get(path) ?? 0;
  return paths.toSorted((a, b) => timed(b) - timed(a) || (a < b ? -1 : 1));
}

const BATCH = 64;

async function timeOf(path: string): Promise<number> {
  return lstat(path).then(
    (stats) => stats.mtimeMs,
    () => 0,
  );
}
