import { execFile } from "node:child_process";
import { type FSWatcher, readFileSync, rmSync, statSync, watch } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { replaceFile } from "../../system/replace-file.ts";
import { pointedGit } from "../git-settings.ts";
import type { SteeringPaths, Variables } from "./sandbox-limits.ts";
import {
  mayChange,
  namedBySettings,
  putBack,
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

/** How things were before a command, as it is kept in a file. */
interface PendingLook {
  readonly roots: readonly string[];
  readonly since: number;
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
  /** The start of the first of the commands since the last look at everything. */
  #since = 0;
  /** The start of the first command of all: what is older was not made by one. */
  #first = 0;
  /** The functions that end the commands that run now. */
  readonly #running = new Set<() => void>();
  readonly #watchers = new Map<string, FSWatcher>();
  #isLooking = false;
  #search: Promise<void>;
  #reports: string[] = [];

  constructor(places: GuardedPlaces) {
    this.#places = places;
    this.#finder = new RepositoryFinder(places.env);
    this.#search = this.#adopt();
  }

  /** The paths that a command must leave as they are. */
  paths(): SteeringPaths {
    const there = [...this.#before].flatMap(([path, state]) =>
      state === undefined ? [] : [{ path, state }],
    );
    const isGit = ({ path, state }: (typeof there)[number]): boolean =>
      basename(path) === ".git" && state.kind === "folder";
    const pinned = there.filter(isGit).map(({ path }) => path);
    return { present: there.filter((each) => !isGit(each)).map(({ path }) => path), pinned };
  }

  /** Notes how things are before a command. `end` ends it at once. */
  async begin(end: () => void): Promise<void> {
    // Of the command before, whose last look may be under way.
    await this.#search;
    if (this.#running.size === 0) {
      // What people changed since the last command counts.
      this.#before = new Map(this.#paths().map((path) => [path, stateOf(path)]));
      this.#since = Date.now();
      this.#first ||= this.#since;
      const before = [...this.#before].map(([path, state]) => [path, state ?? null] as const);
      const look: PendingLook = { roots: this.#places.roots, since: this.#since, before };
      replaceFile(this.#places.pending, JSON.stringify(look));
    }
    this.#running.add(end);
    this.#watch();
  }

  /** Looks after a command. What lies further down is looked for afterwards, before the next one. */
  end(end: () => void): void {
    if (!this.#running.delete(end)) return;
    this.#look();
    this.#search = this.#adopt();
    if (this.#running.size > 0) return;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Lines that say what was put back since the last call. */
  takeReports(): readonly string[] {
    return this.#reports.splice(0);
  }

  /** Resolves when nothing is left to look for. */
  async settled(): Promise<void> {
    await this.#search;
  }

  /** Puts back what commands of a killed process did, by its notes. False where these ran elsewhere. */
  recover(pending: string): boolean {
    if (statSync(pending, { throwIfNoEntry: false }) === undefined) return true;
    const { roots, since, before } = JSON.parse(readFileSync(pending, "utf8")) as PendingLook;
    if (!roots.some((root) => this.#places.roots.includes(root))) return false;
    this.#before = new Map(before.map(([path, state]) => [path, state ?? undefined]));
    this.#since = since;
    this.#first = since;
    this.#look();
    return true;
  }

  #paths(): readonly string[] {
    const { roots, gitFolders, writable } = this.#places;
    return [
      ...roots.flatMap(steeringOfRoot),
      ...[...new Set([...roots, ...this.#repositories])].flatMap((each) =>
        steeringOfRepository(each, writable),
      ),
      ...gitFolders.flatMap((git) => [
        ...steeringOfGit(git),
        ...namedBySettings(git, { folders: [dirname(git), ...roots], writable }),
      ]),
    ];
  }

  /** Inotify tells of a folder's own entries only, so a busy tree below costs nothing. */
  #watch(): void {
    for (const folder of this.#places.roots.flatMap((root) => [root, join(root, ".git")])) {
      if (this.#watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#lookSoon());
        // A folder that goes away is nothing to watch any more.
        watcher.on("error", () => watcher.close());
        this.#watchers.set(folder, watcher);
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
      if (this.#running.size === 0) return;
      // First, for a `.git` may have come into being.
      this.#watch();
      if (!this.#look()) return;
      this.#reports.push("the command was ended for it");
      for (const end of this.#running) end();
    });
  }

  /** Compares what steers with before and puts back what a command must not change. True: there was some. */
  #look(): boolean {
    const count = this.#reports.length;
    for (const path of new Set([...this.#before.keys(), ...this.#paths()])) this.#judge(path);
    return this.#reports.length > count;
  }

  #judge(path: string): void {
    const [before, now] = [this.#before.get(path), stateOf(path)];
    const guarded = [...this.paths().pinned, ...this.#places.gitFolders];
    if (mayChange(path, { before, now, guarded })) this.#before.set(path, now);
    else this.#reports.push(...[putBack(path, before, this.#places.kept) ?? []].flat());
  }

  /** Takes on repositories that were not known: as they are if they are older than the commands. */
  async #adopt(): Promise<void> {
    const { roots, writable, pending } = this.#places;
    const found = await this.#finder.find(roots);
    const first = this.#first;
    for (const folder of found) {
      if (this.#repositories.has(folder) || roots.includes(folder)) continue;
      for (const path of steeringOfRepository(folder, writable)) {
        const changed = statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0;
        if (first === 0 || changed < first) this.#before.set(path, stateOf(path));
        else this.#judge(path);
      }
    }
    this.#repositories = found;
    if (this.#running.size === 0) rmSync(pending, { force: true });
  }
}

/** Folders this far down are looked at. */
const DEPTH = 3;
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Git as a program that only looks: a repository could name a server to fetch what is missing from. */
const GIT_LOOKS = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

/** The folders named by the index of a repository, and the state of the index. */
type Submodules = { readonly index: string; readonly folders: readonly string[] };

/** Finds the repositories of a workspace: those at most three levels down, and submodules at any depth. */
export class RepositoryFinder {
  readonly #env: Variables;
  readonly #submodules = new Map<string, Submodules>();

  constructor({ PATH, HOME }: Variables) {
    this.#env = { PATH, HOME, GIT_ALLOW_PROTOCOL: "", GIT_NO_LAZY_FETCH: "1" };
  }

  /** The folders with a `.git` in `roots`, those included. Never rejects. */
  async find(roots: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set((await Promise.all(roots.map((root) => repositoriesIn(root, DEPTH)))).flat());
    // A submodule that is found may have submodules itself.
    for (const folder of found)
      for (const inner of await this.#submodulesOf(folder))
        if (statSync(join(inner, ".git"), { throwIfNoEntry: false }) !== undefined) found.add(inner);
    return found;
  }

  async #submodulesOf(folder: string): Promise<readonly string[]> {
    const git = join(folder, ".git");
    const stats = statSync(join(pointedGit(git)?.own ?? git, "index"), { throwIfNoEntry: false });
    const index = `${stats?.mtimeMs} ${stats?.size} ${stats?.ino}`;
    const known = this.#submodules.get(folder);
    if (stats === undefined || known?.index === index) return known?.folders ?? [];
    const args = ["-C", folder, ...GIT_LOOKS, "ls-files", "-s", "-z"];
    const options = { env: this.#env, cwd: "/", maxBuffer: MAX_OUTPUT };
    const output = await new Promise<string>((resolve) => {
      execFile("git", args, options, (_error, listed) => resolve(listed)).stdin?.end();
    });
    const named = [...output.matchAll(/(?:^|\0)160000 [^\0\t]*\t([^\0]+)/g)];
    const folders = named.map(([, path = ""]) => join(folder, path));
    this.#submodules.set(folder, { index, folders });
    return folders;
  }
}

async function repositoriesIn(folder: string, depth: number): Promise<readonly string[]> {
  // One that is gone, or closed to this user, holds none.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const own = entries.some(({ name }) => name === ".git") ? [folder] : [];
  const inner = entries.filter(
    (entry) => depth > 0 && entry.isDirectory() && entry.name !== ".git" && entry.name !== "node_modules",
  );
  const found = await Promise.all(inner.map(({ name }) => repositoriesIn(join(folder, name), depth - 1)));
  return [...own, ...found.flat()];
}
