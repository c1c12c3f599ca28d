import { type FSWatcher, readdirSync, readFileSync, rmSync, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isWithin } from "../../system/real-path.ts";
import { replaceFile } from "../../system/replace-file.ts";
import type { Variables } from "./confined-start.ts";
import { RepositoryFinder } from "./find-repositories.ts";
import { isWrittenByGit } from "./git-written-settings.ts";
import { moveAway, writeBack } from "./put-back.ts";
import {
  isBareRepository,
  type SteeringState,
  stateOf,
  steeringOfGit,
  steeringOfRepository,
  steeringOfRoot,
} from "./steering-files.ts";

/** The places a guard looks after. */
export interface GuardedPlaces {
  readonly roots: readonly string[];
  /** Git folders outside of the roots that commands may write to. */
  readonly gitFolders: readonly string[];
  readonly writable: readonly string[];
  /** The folder that takes what is put back. */
  readonly kept: string;
  /** The file that tells another process what to look for when this one is killed. */
  readonly pending: string;
  readonly env: Variables;
}

/** The state of what steers before a command, as it is kept in a file. */
interface PendingLook {
  readonly roots: readonly string[];
  readonly since: number;
  readonly bare: readonly string[];
  readonly before: readonly (readonly [path: string, state: SteeringState | null])[];
}

/**
 * Keeps what steers git, editors and this program as it was before commands ran. What is there cannot be
 * written to; what comes into being is put back, in the roots at once and elsewhere when a command has ended.
 */
export class SteeringGuard {
  readonly #places: GuardedPlaces;
  readonly #finder: RepositoryFinder;
  #repositories: ReadonlySet<string> = new Set();
  #before = new Map<string, SteeringState | undefined>();
  #bare: readonly string[] = [];
  /** The functions that end the commands that run now. */
  readonly #running = new Set<() => void>();
  readonly #watchers: FSWatcher[] = [];
  #isLooking = false;
  #since = 0;
  #search: Promise<void> = Promise.resolve();
  #reports: string[] = [];

  constructor(places: GuardedPlaces) {
    this.#places = places;
    this.#finder = new RepositoryFinder(places.roots, places.env);
    this.#search = this.#adopt();
  }

  /** The paths that are there and must not change: mount them read-only. */
  get present(): readonly string[] {
    return [...this.#before].flatMap(([path, state]) =>
      state === undefined || isGitFolder(path, state) ? [] : [path],
    );
  }

  /** The git folders that must not be moved. */
  get pinned(): readonly string[] {
    return [...this.#before].flatMap(([path, state]) => (state && isGitFolder(path, state) ? [path] : []));
  }

  /** Notes how things are before a command. `end` ends it at once. */
  async begin(end: () => void): Promise<void> {
    // Of the command before, whose last look may be under way.
    await this.#search;
    if (this.#running.size === 0) {
      // What people changed since the last command counts.
      this.#note();
      this.#since = Date.now();
      replaceFile(this.#places.pending, JSON.stringify(this.#pendingLook()));
      this.#watch();
    }
    this.#running.add(end);
  }

  /** Looks after a command. What lies further down is looked for afterwards, before the next one. */
  end(end: () => void): void {
    if (!this.#running.delete(end)) return;
    this.#look();
    this.#search = this.#adopt();
    if (this.#running.size > 0) return;
    for (const watcher of this.#watchers.splice(0)) watcher.close();
  }

  /** Lines that say what was put back since the last call. */
  takeReports(): readonly string[] {
    return this.#reports.splice(0);
  }

  /** Resolves when nothing is left to look for. */
  async settled(): Promise<void> {
    await this.#search;
  }

  /** Puts back what commands of a killed process did. False for one that ran elsewhere. */
  recover(text: string): boolean {
    const { roots, since, bare, before } = JSON.parse(text) as PendingLook;
    if (!roots.some((root) => this.#places.roots.includes(root))) return false;
    this.#before = new Map(before.map(([path, state]) => [path, state ?? undefined]));
    this.#bare = bare;
    this.#since = since;
    this.#look();
    return true;
  }

  #pendingLook(): PendingLook {
    const before = [...this.#before].map(([path, state]) => [path, state ?? null] as const);
    return { roots: this.#places.roots, since: this.#since, bare: this.#bare, before };
  }

  #paths(): readonly string[] {
    const { roots, gitFolders, writable } = this.#places;
    const folders = new Set([...roots, ...this.#repositories]);
    return [
      ...roots.flatMap(steeringOfRoot),
      ...[...folders].flatMap((folder) => steeringOfRepository(folder, writable)),
      ...gitFolders.flatMap((git) => steeringOfGit(git)),
    ];
  }

  #note(): void {
    this.#before = new Map(this.#paths().map((path) => [path, stateOf(path)]));
    this.#bare = this.#places.roots.filter(isBareRepository);
  }

  /** Inotify tells of a folder's own entries only, so a busy tree below costs nothing. */
  #watch(): void {
    for (const folder of this.#places.roots.flatMap((root) => [root, join(root, ".git")])) {
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#lookSoon());
        // A folder that goes away is nothing to watch any more.
        watcher.on("error", () => watcher.close());
        this.#watchers.push(watcher);
      } catch {
        // Not there, or no more watches: the look afterwards finds it.
      }
    }
  }

  #lookSoon(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(() => {
      this.#isLooking = false;
      if (this.#running.size === 0 || !this.#look()) return;
      this.#reports.push("the command was ended for it");
      for (const end of this.#running) end();
    });
  }

  /** Compares what steers with before and puts back what a command must not change. True: there was some. */
  #look(): boolean {
    const count = this.#reports.length;
    for (const path of new Set([...this.#before.keys(), ...this.#paths()])) this.#judge(path);
    for (const root of this.#places.roots)
      if (!this.#bare.includes(root) && isBareRepository(root)) this.#putBack(join(root, "HEAD"), undefined);
    return this.#reports.length > count;
  }

  #judge(path: string): void {
    const before = this.#before.get(path);
    const now = stateOf(path);
    if (before?.kind === now?.kind && before?.text === now?.text && now?.kind !== "folder") return;
    if (this.#mayStay(path, now, before)) this.#before.set(path, now);
    else this.#putBack(path, before);
  }

  /** True for a state of a path that a command may bring about. */
  #mayStay(path: string, now: SteeringState | undefined, before: SteeringState | undefined): boolean {
    const name = basename(path);
    if (now === undefined) return before === undefined || !this.#isSteeringText(before);
    if (name === ".git")
      return now.kind === "folder" || (now.kind === "file" && this.#leadsInside(path, now));
    if (now.kind === "folder") return before?.kind === "folder" || this.#isEmptyOfHooks(path);
    if (now.kind !== "file") return false;
    if (name === "config") return isWrittenByGit(now.text, before?.text);
    if (name === "commondir")
      return /\/worktrees\/[^/]+\/commondir$/.test(path) && now.text.trim() === "../..";
    return name === "gitdir" && before === undefined;
  }

  /** True for a state that can be written back. */
  #isSteeringText({ kind }: SteeringState): boolean {
    return kind === "file" || kind === "link";
  }

  /** A pointer into a guarded git folder: a worktree or submodule that git made there. */
  #leadsInside(path: string, { text }: SteeringState): boolean {
    const to = /^gitdir: (.+)\n?$/.exec(text)?.[1];
    if (to === undefined) return false;
    const place = join(to.startsWith("/") ? "/" : dirname(path), to);
    const guarded = [...this.pinned, ...this.#places.gitFolders];
    return guarded.some((git) => isWithin(place, join(git, "worktrees"), join(git, "modules")));
  }

  /** Hooks of a new repository come from git's templates, which never run. Others are moved away. */
  #isEmptyOfHooks(path: string): boolean {
    if (basename(path) !== "hooks") return false;
    for (const name of readdirSync(path))
      if (!name.endsWith(".sample")) this.#putBack(join(path, name), undefined);
    return true;
  }

  #putBack(path: string, before: SteeringState | undefined): void {
    const kept = moveAway(path, this.#places.kept);
    const isWritten = before !== undefined && writeBack(path, before);
    if (kept === undefined && !isWritten) return;
    const where = kept === undefined ? "" : `; what a command put there is kept as ${kept}`;
    this.#reports.push(`${path} is as it was before${where}`);
  }

  /** Takes on repositories that were not known: as they are if they are older than the commands. */
  async #adopt(): Promise<void> {
    const found = await this.#finder.find();
    const since = this.#since;
    const fresh = found.filter(
      (folder) => !this.#repositories.has(folder) && !this.#places.roots.includes(folder),
    );
    this.#repositories = new Set(found);
    for (const path of fresh.flatMap((folder) => steeringOfRepository(folder, this.#places.writable))) {
      const changed = statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0;
      if (since === 0 || changed < since) this.#before.set(path, stateOf(path));
      else this.#judge(path);
    }
    if (this.#running.size === 0) rmSync(this.#places.pending, { force: true });
  }
}

function isGitFolder(path: string, { kind }: SteeringState): boolean {
  return basename(path) === ".git" && kind === "folder";
}

/** The notes of a killed process, if there are any. */
export function readPending(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // It had nothing left to look for.
    return undefined;
  }
}
