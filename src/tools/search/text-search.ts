import { lstat, opendir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { systemCode } from "../../system/system-error.ts";
import { describeNearestNames, FileRefusal } from "../files/file-error.ts";

/** Regular files that no ignore file excludes, without `.git` and our temporary files. */
interface FileFilter {
  readonly folder: string;
  readonly withNodeModules: boolean;
  readonly signal: AbortSignal;
}

export interface FileListing extends FileFilter {
  /** Takes a path, relative to the folder and with `/`. Returns false when it has enough. */
  readonly onFile: (path: string) => boolean;
}

export interface TextSearch extends FileFilter {
  readonly pattern: string;
  /** The one file in the folder to search. Default: all that are not ignored. */
  readonly file?: string;
  /** Only files that match this glob; one without a slash matches files in any folder. */
  readonly glob?: string;
  readonly mode: "files" | "content" | "count";
  /** Lines of context before and after each match, in mode `content`. */
  readonly context: number;
  readonly ignoresCase: boolean;
  /** The pattern may match across lines, and `.` also matches a line end. */
  readonly isMultiline: boolean;
  readonly onHit: (found: SearchHit) => boolean;
}

/** A result: a file (mode `files`), its number of matching lines (`count`), or a line (`content`). */
export interface SearchHit {
  readonly path: string;
  readonly count?: number;
  readonly line?: { readonly number: number; readonly text: string; readonly isMatch: boolean };
}

export interface TextSearchOutcome {
  readonly problem?: string;
  readonly unread: number;
}

export const MAX_LINE_CHARS = 500;

/** Throws for anything but a file or a readable folder. */
export async function searchRootKind(path: string, shown: string): Promise<"folder" | "file"> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) {
      await (await opendir(path)).close();
      return "folder";
    }
    if (stats.isFile()) return "file";
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    throw new FileRefusal(`${shown}: there is no such file or folder.${await describeNearestNames(path)}`);
  }
  throw new FileRefusal(`${shown} is neither a file nor a folder: it cannot be searched.`);
}

/** A path for the model's next call: relative if it is below the working directory, else absolute. */
export function shownPath(path: string, cwd: string): string {
  const shown = relative(cwd, path);
  if (shown === "") return ".";
  return shown === ".." || shown.startsWith(`..${sep}`) ? path : shown.split(sep).join("/");
}

/** Remembers the last path, since the lines of one file come one after the other. */
export function exclusionCheck(
  folder: string,
  excludes: ((path: string) => boolean) | undefined,
): (path: string) => boolean {
  let last: { readonly path: string; readonly isExcluded: boolean } | undefined;
  const check = (path: string): boolean => {
    try {
      return excludes?.(join(folder, path)) === true;
    } catch {
      // A failed check must not reveal what it was meant to hide.
      return true;
    }
  };
  return (path) => {
    if (last?.path !== path) last = { path, isExcluded: check(path) };
    return last.isExcluded;
  };
}

const MAX_BYTES = 30_000;
/** Maximum number of files sorted by time; beyond that, the first found. */
const MAX_SORTED_FILES = 10_000;

/** Formats results for the model, limited by number and bytes. */
export class ResultList {
  readonly #search: Pick<TextSearch, "mode" | "context" | "folder">;
  readonly #limit: number;
  readonly #cwd: string;
  readonly #lines: string[] = [];
  readonly #paths: string[] = [];
  #bytes = 0;
  #total = 0;
  #isTruncated = false;
  #lastNumber = 0;
  size = 0;

  constructor(search: Pick<TextSearch, "mode" | "context" | "folder">, limit: number, cwd: string) {
    this.#search = search;
    this.#limit = limit;
    this.#cwd = cwd;
  }

  add({ path, line, count }: SearchHit): boolean {
    const isResult = line?.isMatch ?? true;
    const max = this.#search.mode === "files" ? MAX_SORTED_FILES : this.#limit;
    if ((isResult && this.size >= max) || this.#bytes > MAX_BYTES) {
      this.#isTruncated = true;
      return false;
    }
    if (isResult) this.size++;
    const isNewFile = path !== this.#paths.at(-1);
    if (isNewFile) this.#paths.push(path);
    if (line !== undefined) this.#addLine(path, line, isNewFile);
    if (count !== undefined) {
      this.#total += count;
      this.#write(`${this.#shown(path)}: ${count}`);
    }
    return true;
  }

  async text(): Promise<string> {
    const notes: string[] = [];
    if (this.#search.mode === "files") {
      const sorted = await sortNewestFirst(this.#search.folder, this.#paths);
      for (const path of sorted.slice(0, this.#limit))
        if (this.#bytes <= MAX_BYTES) this.#write(this.#shown(path));
      const [shown, all] = [this.#lines.length, `${this.#isTruncated ? "more than " : ""}${sorted.length}`];
      if (shown < sorted.length) notes.push(`[The newest ${shown} of ${all} files. Narrow the search.]`);
      return [...this.#lines, ...notes].join("\n");
    }
    if (this.#search.mode === "count" && this.size > 1) notes.push(`${this.#total} in ${this.size} files`);
    const shown = this.size === 1 ? "result is" : `${this.size} results are`;
    if (this.#isTruncated) notes.push(`[Only the first ${shown} shown. Narrow the search.]`);
    return [...this.#lines, ...notes].join("\n");
  }

  #addLine(
    path: string,
    { number, text, isMatch }: NonNullable<SearchHit["line"]>,
    isNewFile: boolean,
  ): void {
    if (isNewFile) this.#write(`${this.#lines.length === 0 ? "" : "\n"}${this.#shown(path)}`);
    else if (this.#search.context > 0 && number > this.#lastNumber + 1) this.#write("--");
    this.#write(`${number}${isMatch ? ":" : "-"}${text.replace(/\r+$/u, "")}`);
    this.#lastNumber = number;
  }

  #shown(path: string): string {
    return shownPath(join(this.#search.folder, path), this.#cwd);
  }

  #write(line: string): void {
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line) + 1;
  }
}

const BATCH = 64;

/** Paths below a folder, newest first, then by name. Files that are gone come last. */
export async function sortNewestFirst(folder: string, paths: readonly string[]): Promise<readonly string[]> {
  const times = new Map<string, number>();
  const note = async (path: string) => {
    const stats = await lstat(join(folder, path)).catch(() => undefined);
    times.set(path, stats?.mtimeMs ?? 0);
  };
  for (let start = 0; start < paths.length; start += BATCH)
    await Promise.all(paths.slice(start, start + BATCH).map(note));
  const timeOf = (path: string) => times.get(path) ?? 0;
  return paths.toSorted((a, b) => timeOf(b) - timeOf(a) || (a < b ? -1 : 1));
}
