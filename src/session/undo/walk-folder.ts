import { lstatSync, readdirSync, type Stats } from "node:fs";
import type { Omission, OmissionReason } from "../../core/agent/entries.ts";
import { TEMPORARY_PREFIX } from "../../system/replace-file.ts";
import { systemCode } from "../../system/system-error.ts";
import { BULK_FOLDERS, type CheckpointLimits } from "./checkpoint-limits.ts";
import { childKey, GIT, keyOfBytes, nativePath, type PathKey } from "./path-key.ts";

/** Options of a walk. */
export interface WalkOptions {
  /** Absolute path, links resolved. */
  readonly root: string;
  readonly limits: CheckpointLimits;
  /** Absolute paths of folders that are passed over without a word. */
  readonly exclude: readonly string[];
  readonly onEntry: (key: PathKey, stats: Stats) => void;
  /** Asked before a folder is looked into; one that is not is left out for want of time. */
  readonly mayOpen: (key: PathKey) => boolean;
}

/**
 * Goes through everything below a folder, outer folders first, in slices that leave room for other work.
 * Links are entries and not followed; `.git` is passed over. Resolves to the folders that were not looked
 * into. What vanishes meanwhile is not there.
 */
export async function walkFolder(options: WalkOptions): Promise<readonly Omission[]> {
  const walk = new Walk(options);
  await walk.run();
  return walk.omitted;
}

/** Longest time without letting others work, in milliseconds. */
const SLICE_MS = 12;

interface PathStats {
  readonly key: PathKey;
  readonly stats: Stats;
}

class Walk {
  readonly omitted: Omission[] = [];
  readonly #options: WalkOptions;
  readonly #device: number | undefined;
  #left: number;
  #sliceEnd = performance.now() + SLICE_MS;

  constructor(options: WalkOptions) {
    this.#options = options;
    // A root that was removed holds nothing, as any other folder that vanished.
    this.#device = statsOf(options.root)?.dev;
    this.#left = options.limits.maxEntries;
  }

  async run(): Promise<void> {
    const folders: PathKey[] = [""];
    for (let next = 0; next < folders.length; next++) {
      const folder = folders[next] ?? "";
      const found = this.#entriesOf(folder, { limit: this.#left });
      if (found === undefined) continue;
      this.#left -= found.length;
      for (const entry of found) {
        this.#options.onEntry(entry.key, entry.stats);
        if (this.#isOpen(entry)) {
          if (isBulk(entry.key)) await this.#walkBulk(entry);
          else folders.push(entry.key);
        }
        if (performance.now() >= this.#sliceEnd) await this.#pause();
      }
    }
  }

  /** All of a folder of dependencies, or nothing of it. */
  async #walkBulk(top: PathStats): Promise<void> {
    const limit = Math.min(this.#left, this.#options.limits.maxBulkEntries);
    const all: PathStats[] = [];
    const folders = [top.key];
    const omittedBefore = this.omitted.length;
    for (let next = 0; next < folders.length; next++) {
      const found = this.#entriesOf(folders[next] ?? "", { limit: limit - all.length, blame: top.key });
      if (found === undefined) {
        const reason = this.omitted.at(-1)?.reason;
        if (reason !== "too_many_files" && reason !== "no_time") continue;
        this.omitted.splice(omittedBefore, this.omitted.length, { path: top.key, reason });
        return;
      }
      for (const entry of found) if (this.#isOpen(entry)) folders.push(entry.key);
      all.push(...found);
      if (performance.now() >= this.#sliceEnd) await this.#pause();
    }
    this.#left -= all.length;
    for (const { key, stats } of all) this.#options.onEntry(key, stats);
  }

  /**
   * Entries of a folder; undefined where they cannot be had: the folder is noted as left out, or `blame`
   * where there is no time or they are more than `limit`.
   */
  #entriesOf(
    folder: PathKey,
    { limit, blame = folder }: { readonly limit: number; readonly blame?: PathKey },
  ): PathStats[] | undefined {
    const { root, mayOpen } = this.#options;
    if (!mayOpen(folder)) {
      this.#omit(blame, "no_time");
      return undefined;
    }
    let names: readonly PathKey[];
    try {
      names = namesIn(nativePath(root, folder));
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (code !== "ENOENT" && code !== "ENOTDIR") this.#omit(folder, "unreadable");
      return undefined;
    }
    if (names.length > limit) {
      this.#omit(blame, "too_many_files");
      return undefined;
    }
    const found: PathStats[] = [];
    for (const name of names) {
      if (name === GIT || name.startsWith(TEMPORARY_PREFIX)) continue;
      const key = childKey(folder, name);
      const stats = statsOf(nativePath(root, key));
      if (stats !== undefined) found.push({ key, stats });
    }
    return found;
  }

  #isOpen({ key, stats }: PathStats): boolean {
    if (!stats.isDirectory()) return false;
    const { root, exclude } = this.#options;
    if (exclude.length > 0 && exclude.includes(String(nativePath(root, key)))) return false;
    if (stats.dev === this.#device) return true;
    this.#omit(key, "mount");
    return false;
  }

  #omit(path: PathKey, reason: OmissionReason): void {
    this.omitted.push({ path, reason });
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#sliceEnd = performance.now() + SLICE_MS;
  }
}

function isBulk(key: PathKey): boolean {
  return BULK_FOLDERS.has(key.slice(key.lastIndexOf("/") + 1));
}

/** The character that a name that is not UTF-8 shows where its bytes were. */
const REPLACEMENT = "\uFFFD";

function namesIn(path: string | Buffer): readonly PathKey[] {
  const names = readdirSync(path, "utf8");
  if (!names.some((name) => name.includes(REPLACEMENT))) return names;
  return readdirSync(path, "buffer").map(keyOfBytes);
}

/** The state of a path, links not followed; undefined when nothing does, or nothing that can be seen. */
export function statsOf(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // A folder on the way that may not be searched, a name that is too long: nothing here that could be kept.
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
