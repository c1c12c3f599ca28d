import { listFiles } from "../../../tools/search/list-files.ts";
import { RipgrepLocator } from "../../../tools/search/ripgrep.ts";
import { type Candidate, candidatesOf, fuzzyBest } from "./fuzzy.ts";

const MAX_FILES = 200_000;
/** A list older than this is made anew in the background when it is needed again. */
const FRESH_MS = 15_000;

/** The working folder's files that are not ignored, for completion. Read in the background when asked for. */
export class FileIndex {
  readonly #folder: string;
  readonly #onChange: () => void;
  readonly #ended = new AbortController();
  #candidates: readonly Candidate[] = [];
  #readAt: number | undefined;
  #isReading = false;
  #last: { readonly query: string; readonly fitting: readonly Candidate[] } | undefined;

  /** `onChange` is called when more files are known. */
  constructor(folder: string, onChange: () => void) {
    this.#folder = folder;
    this.#onChange = onChange;
  }

  /** The paths that fit a query best, relative to the folder. Folders end with `/`. */
  find(query: string, limit: number): readonly string[] {
    this.#refresh();
    const last = this.#last;
    // Whoever goes on typing searches in what fitted so far.
    const from = last !== undefined && query.startsWith(last.query) ? last.fitting : this.#candidates;
    const { best, fitting } = fuzzyBest(query, from, limit);
    this.#last = { query, fitting };
    return best;
  }

  close(): void {
    this.#ended.abort();
  }

  #refresh(): void {
    const isFresh = this.#readAt !== undefined && performance.now() - this.#readAt < FRESH_MS;
    if (this.#isReading || isFresh) return;
    this.#isReading = true;
    void this.#read()
      .catch(() => undefined)
      .finally(() => {
        this.#isReading = false;
        this.#readAt = performance.now();
      });
  }

  async #read(): Promise<void> {
    const files: string[] = [];
    const folders = new Set<string>();
    await listFiles(this.#folder, {
      ripgrep: new RipgrepLocator(),
      withNodeModules: false,
      signal: this.#ended.signal,
      onFile: (path) => {
        files.push(path);
        for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
          const folder = path.slice(0, at + 1);
          if (folders.has(folder)) break;
          folders.add(folder);
        }
        return files.length < MAX_FILES;
      },
    });
    if (this.#ended.signal.aborted) return;
    // The shorter ones first: without a query they are what is offered.
    const all = [...files, ...folders].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
    this.#candidates = candidatesOf(all);
    this.#last = undefined;
    this.#onChange();
  }
}

function depth(path: string): number {
  let count = 0;
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) count++;
  return count;
}
