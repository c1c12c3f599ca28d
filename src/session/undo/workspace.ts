import { lstatSync, readdirSync, type Stats } from "node:fs";
import type { FileChange, FileVersion, Omission, OmissionReason } from "../../core/agent/entries.ts";
import { isNanoAgentError } from "../../core/base/errors.ts";
import { TEMPORARY_PREFIX } from "../../system/replace-file.ts";
import { systemCode } from "../../system/system-error.ts";
import {
  BULK_FOLDERS,
  type CheckpointLimits,
  CheckpointStore,
  checkpointError,
  makePrivateFolder,
} from "./checkpoint-store.ts";
import {
  ABSENT_STATE,
  childKey,
  type FileIndex,
  type FileState,
  fileState,
  foldersAbove,
  GIT,
  hasSameStats,
  isSameState,
  isSameVersion,
  isUnchanged,
  isUnread,
  keyOfBytes,
  markOf,
  nativePath,
  type PathKey,
  parentKey,
  unstoredVersion,
} from "./path-state.ts";

export interface WorkspaceOptions {
  /** The tracked folder: absolute, links resolved. */
  readonly root: string;
  readonly folder: string;
  readonly sessionId: string;
  readonly limits: CheckpointLimits;
  readonly exclude?: readonly string[];
  readonly onNotice?: ((message: string) => void) | undefined;
}

export interface ScanLimits {
  readonly mayRead: () => boolean;
  readonly mayOpen: () => boolean;
}

const UNLIMITED: ScanLimits = { mayRead: () => true, mayOpen: () => true };

export interface Observation {
  readonly changes: readonly FileChange[];
  /** Paths that were not scanned; `changed` if the folder itself was touched. */
  readonly omitted: readonly Omission[];
}

/**
 * One folder and its known state. Each scan compares file system facts with those of the last one, and reads
 * and stores what differs. Scans must not overlap. Throws `checkpoint` if something cannot be stored.
 */
export class Workspace {
  readonly root: string;
  readonly folder: string;
  readonly store: CheckpointStore;
  readonly #options: WorkspaceOptions;
  readonly #index: FileIndex;
  /** Session that scanned last before this one opened the workspace. */
  readonly lastSeenBy: string | undefined;
  readonly #touched = new Set<PathKey>();
  /** True if a touched path differs in more than the time it was checked. */
  #isChanged = false;
  /** The findings of the scan in progress: they count once their bytes are on the disk. */
  readonly #draft = new Map<PathKey, FileState | undefined>();
  readonly #marks = new Map<PathKey, number>();
  /** True if the store holds the index as of the last {@link save}. */
  #hasStoredIndex: boolean;
  #unread: Workspace["unread"] | undefined;

  constructor(options: WorkspaceOptions) {
    const { root, folder, sessionId } = options;
    this.root = root;
    this.folder = folder;
    this.#options = options;
    this.store = new CheckpointStore(folder, options.limits, options.onNotice);
    const index = this.store.loadIndex(root);
    this.lastSeenBy = index?.sessionId;
    this.#hasStoredIndex = index !== undefined;
    this.#index = { ...(index ?? { states: new Map(), isComplete: false, omitted: [] }), sessionId };
  }

  get omitted(): readonly Omission[] {
    return this.#index.omitted;
  }

  /** True if something was never scanned, or not completely for lack of time. */
  get isNew(): boolean {
    return !this.#index.isComplete || this.unread.files > 0 || this.unread.folders > 0;
  }

  /** The number of files seen but not read, and of folders not scanned, for lack of time. */
  get unread(): { readonly files: number; readonly folders: number } {
    this.#unread ??= {
      files: [...this.#index.states.values()].filter(isUnread).length,
      folders: this.#index.omitted.filter(({ reason }) => reason === "no_time").length,
    };
    return this.#unread;
  }

  *hashes(): Iterable<string> {
    for (const { version } of this.#index.states.values()) if (version?.type === "file") yield version.hash;
  }

  /** Scans everything, changing nothing. `patience` decides which new files must wait. */
  async scan(patience: ScanLimits = UNLIMITED): Promise<Observation> {
    this.#begin();
    const { root, limits, exclude = [] } = this.#options;
    const { states, isComplete, omitted: omittedBefore } = this.#index;
    const changes: FileChange[] = [];
    const seen = new Set<PathKey>();
    const wasSkipped = matchSkipped(omittedBefore);
    const isKnown = (key: PathKey): boolean => isComplete && !wasSkipped(key);
    const onEntry = (key: PathKey, stats: Stats): void => {
      seen.add(key);
      this.#record(key, stats, changes, isKnown, patience.mayRead);
    };
    const hadNoTime = matchSkipped(omittedBefore.filter(({ reason }) => reason === "no_time"));
    const mayOpen = (key: PathKey): boolean => (isComplete && !hadNoTime(key)) || patience.mayOpen();
    const scan = new DirectoryScan({ root, limits, exclude: [...exclude, this.folder], onEntry, mayOpen });
    await scan.run();
    const { omitted } = scan;
    const isSkipped = matchSkipped(omitted);
    for (const [key, { version }] of states) {
      if (seen.has(key) || isSkipped(parentKey(key) ?? "")) continue;
      this.#draft.set(key, undefined);
      if (version !== null) changes.push({ path: key, before: version, after: null });
    }
    this.#commit();
    if (!isComplete) this.#hasStoredIndex = false;
    this.#index.isComplete = true;
    this.#index.omitted = omitted;
    this.#unread = undefined;
    const removed = omittedBefore.filter(({ path }) => path !== "" && !seen.has(path) && !isSkipped(path));
    return {
      changes,
      omitted: [
        ...omitted.map((omission) => this.#withChanged(omission)),
        // The unknown contents of such a folder are gone with it.
        ...removed.map((omission) => ({ ...omission, changed: true })),
      ],
    };
  }

  checkPaths(keys: readonly PathKey[]): Observation {
    this.#begin();
    const changes: FileChange[] = [];
    const { isComplete, omitted } = this.#index;
    const wasSkipped = matchSkipped(omitted);
    const isKnown = (key: PathKey): boolean => isComplete && !wasSkipped(key);
    for (const key of new Set(keys.flatMap((each) => [...foldersAbove(each), each]))) {
      const stats = this.#statsWithin(key);
      if (stats !== undefined) this.#record(key, stats, changes, isKnown);
      else this.#recordAbsence(key, changes);
    }
    this.#commit();
    return { changes, omitted: [] };
  }

  versionOf(key: PathKey): FileVersion | null | undefined {
    return this.#index.states.get(key)?.version;
  }

  markOf(key: PathKey): string | undefined {
    const state = this.#index.states.get(key);
    return state === undefined || state.version === null ? undefined : markOf(state);
  }

  matchesDisk(key: PathKey): boolean {
    const state = this.#index.states.get(key);
    const stats = this.#statsWithin(key);
    if (state === undefined || state.version === null) return stats === undefined;
    if (stats === undefined) return false;
    return state.version.type === "folder" ? stats.isDirectory() : hasSameStats(state, stats);
  }

  /**
   * Stores the known state, so that the next run need not read everything again. Without a change nothing is
   * stored, except by the `last` call.
   */
  save(call?: "last"): void {
    const isDue = this.#isChanged || (call === "last" && this.#touched.size > 0);
    if (this.#hasStoredIndex && !isDue) return;
    try {
      this.store.saveIndex(this.root, this.#index, this.#hasStoredIndex ? this.#touched : undefined);
      this.#hasStoredIndex = true;
      this.#touched.clear();
      this.#isChanged = false;
    } catch (error) {
      // It only saves time: without it, the next run reads everything again.
      if (!isNanoAgentError(error)) throw error;
    }
  }

  /** Removes data that only other sessions need; everything now in the workspace stays. */
  retainOnly(hashes: ReadonlySet<string>, users: readonly string[]): void {
    this.store.retainOnly(hashes, users);
    // Another session may have stored states whose contents are no longer kept.
    this.#hasStoredIndex = false;
    this.save();
  }

  #begin(): void {
    try {
      makePrivateFolder(this.folder);
    } catch (error) {
      throw checkpointError(`The folder ${this.folder} cannot be used`, error);
    }
    this.store.beginScan();
    this.#draft.clear();
  }

  #commit(): void {
    this.store.commit();
    this.#unread = undefined;
    for (const [key, state] of this.#draft) {
      const before = this.#index.states.get(key);
      this.#isChanged ||= !isSameButTime(before, state);
      if (state === undefined) this.#index.states.delete(key);
      else this.#index.states.set(key, state);
      this.#touched.add(key);
    }
  }

  /** The stats of a path whose parents are folders and not links. */
  #statsWithin(key: PathKey): Stats | undefined {
    for (const folder of foldersAbove(key))
      if (statsOf(nativePath(this.root, folder))?.isDirectory() !== true) return undefined;
    return statsOf(nativePath(this.root, key));
  }

  /** `isKnown`: true if a path without a state is known not to have existed. */
  #record(
    key: PathKey,
    stats: Stats,
    changes: FileChange[],
    isKnown: (key: PathKey) => boolean,
    mayRead = UNLIMITED.mayRead,
  ): void {
    const state = this.#index.states.get(key);
    if (state !== undefined && this.#isKnown(state, stats)) return;
    const isFirst = state === undefined ? !isKnown(key) : isUnread(state) && hasSameStats(state, stats);
    if (!isFirst || !stats.isFile() || mayRead()) this.#recordFound(key, stats, state, isFirst, changes);
    // No time to read it: its facts will show whether it changes.
    else if (state === undefined)
      this.#draft.set(key, fileState(stats, unstoredVersion(stats, "no_time"), Date.now()));
  }

  /** `isFirst`: read for the first time, which is not a change. */
  #recordFound(
    key: PathKey,
    stats: Stats,
    state: FileState | undefined,
    isFirst: boolean,
    changes: FileChange[],
  ): void {
    const found = this.store.stateAt(nativePath(this.root, key), stats, state);
    if (found === undefined) {
      this.#recordAbsence(key, changes);
      return;
    }
    const { version } = found;
    const isSame = state !== undefined && isSameState(state, found);
    // A folder's times change with its entries and do not describe the folder itself.
    if (isSame && version?.type === "folder") return;
    this.#draft.set(key, found);
    if (isSame || isFirst) return;
    changes.push({ path: key, before: state?.version ?? null, after: version });
  }

  #isKnown(state: FileState, stats: Stats): boolean {
    if (!isUnchanged(state, stats) || isUnread(state)) return false;
    if (state.version?.type === "file") this.store.countScanned(stats.size);
    return true;
  }

  #recordAbsence(key: PathKey, changes: FileChange[]): void {
    const state = this.#index.states.get(key);
    if (state?.version === null) return;
    this.#draft.set(key, ABSENT_STATE);
    if (state !== undefined) changes.push({ path: key, before: state.version, after: null });
  }

  #withChanged(omission: Omission): Omission {
    const mark = statsOf(nativePath(this.root, omission.path))?.mtimeMs ?? 0;
    const before = this.#marks.get(omission.path);
    this.#marks.set(omission.path, mark);
    return before === undefined || before === mark ? omission : { ...omission, changed: true };
  }
}

function isSameButTime(before: FileState | undefined, after: FileState | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  return hasSameStats(before, after) && isSameVersion(before.version, after.version);
}

function matchSkipped(omitted: readonly Omission[]): (key: PathKey) => boolean {
  const paths = new Set(omitted.map(({ path }) => path));
  if (paths.size === 0) return () => false;
  if (paths.has("")) return () => true;
  return (key) => paths.has(key) || foldersAbove(key).some((folder) => paths.has(folder));
}

interface DirectoryScanOptions {
  readonly root: string;
  readonly limits: CheckpointLimits;
  /** Absolute paths of folders that are skipped silently. */
  readonly exclude: readonly string[];
  readonly onEntry: (key: PathKey, stats: Stats) => void;
  /** Called before a folder is scanned; if false, the folder is skipped for lack of time. */
  readonly mayOpen: (key: PathKey) => boolean;
}

const SLICE_MS = 12;

interface PathStats {
  readonly key: PathKey;
  readonly stats: Stats;
}

/**
 * Walks everything below a folder, outer folders first, in slices that leave room for other work. Links are
 * entries and not followed; `.git` is skipped. Files that vanish meanwhile are ignored.
 */
class DirectoryScan {
  readonly omitted: Omission[] = [];
  readonly #options: DirectoryScanOptions;
  readonly #device: number | undefined;
  #remaining: number;
  #sliceEnd = performance.now() + SLICE_MS;

  constructor(options: DirectoryScanOptions) {
    this.#options = options;
    // A removed root counts as empty, like any other folder that vanished.
    this.#device = statsOf(options.root)?.dev;
    this.#remaining = options.limits.maxEntries;
  }

  async run(): Promise<void> {
    const folders: PathKey[] = [""];
    for (let next = 0; next < folders.length; next++) {
      const folder = folders[next] ?? "";
      const found = this.#entriesOf(folder, this.#remaining);
      if (found === undefined) continue;
      this.#remaining -= found.length;
      for (const entry of found) {
        this.#options.onEntry(entry.key, entry.stats);
        if (this.#isEntered(entry)) {
          if (isBulk(entry.key)) await this.#scanBulk(entry);
          else folders.push(entry.key);
        }
        if (performance.now() >= this.#sliceEnd) await this.#pause();
      }
    }
  }

  async #scanBulk(top: PathStats): Promise<void> {
    const limit = Math.min(this.#remaining, this.#options.limits.maxBulkEntries);
    const all: PathStats[] = [];
    const folders = [top.key];
    const omittedBefore = this.omitted.length;
    for (let next = 0; next < folders.length; next++) {
      const found = this.#entriesOf(folders[next] ?? "", limit - all.length, top.key);
      if (found === undefined) {
        const reason = this.omitted.at(-1)?.reason;
        if (reason !== "too_many_files" && reason !== "no_time") continue;
        this.omitted.splice(omittedBefore, this.omitted.length, { path: top.key, reason });
        return;
      }
      for (const entry of found) if (this.#isEntered(entry)) folders.push(entry.key);
      all.push(...found);
      if (performance.now() >= this.#sliceEnd) await this.#pause();
    }
    this.#remaining -= all.length;
    for (const { key, stats } of all) this.#options.onEntry(key, stats);
  }

  /**
   * Entries of a folder. Undefined if the folder is skipped; it is noted as `reportedAs` for lack of time and
   * for more than `limit` entries.
   */
  #entriesOf(folder: PathKey, limit: number, reportedAs = folder): PathStats[] | undefined {
    const { root, mayOpen } = this.#options;
    if (!mayOpen(folder)) {
      this.#skip(reportedAs, "no_time");
      return undefined;
    }
    let names: readonly PathKey[];
    try {
      names = namesIn(nativePath(root, folder));
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (code !== "ENOENT" && code !== "ENOTDIR") this.#skip(folder, "unreadable");
      return undefined;
    }
    if (names.length > limit) {
      this.#skip(reportedAs, "too_many_files");
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

  #isEntered({ key, stats }: PathStats): boolean {
    if (!stats.isDirectory()) return false;
    const { root, exclude } = this.#options;
    if (exclude.length > 0 && exclude.includes(String(nativePath(root, key)))) return false;
    if (stats.dev === this.#device) return true;
    this.#skip(key, "mount");
    return false;
  }

  #skip(path: PathKey, reason: OmissionReason): void {
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

/** Replaces invalid bytes in a name that is not UTF-8. */
const REPLACEMENT = "\uFFFD";

function namesIn(path: string | Buffer): readonly PathKey[] {
  const names = readdirSync(path, "utf8");
  if (!names.some((name) => name.includes(REPLACEMENT))) return names;
  return readdirSync(path, "buffer").map(keyOfBytes);
}

/** The stats of a path, links not followed; undefined if nothing exists or is visible there. */
function statsOf(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Not readable, or a name that is too long: nothing that could be stored.
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
