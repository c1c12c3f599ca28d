import { execFile } from "node:child_process";
import { existsSync, type FSWatcher, readFileSync, rmSync, statSync, watch, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isRecord, safeParse } from "../../core/base/json.ts";
import { pointedGit } from "../git-settings.ts";
import type { SandboxFolders, SandboxLimits, SteeringPaths } from "./sandbox-limits.ts";
import {
  isRepository,
  mayChange,
  namedBySettings,
  putBack,
  type SteeringState,
  stateOf,
  steeringOfGit,
  steeringOfRepository,
  steeringOfRoot,
} from "./steering-files.ts";

/** How things were before a command, as it is kept in a file for the case that this process is killed. */
interface PendingLook {
  readonly roots: readonly string[];
  /** The start of the first command: what is older was not made by one. */
  readonly first: number;
  readonly before: readonly (readonly [path: string, state: SteeringState | null])[];
}

/**
 * Keeps what steers git, editors and this program as it was before commands ran. What is there cannot be
 * written to; what comes into being is put back, in the roots at once and elsewhere when a command has ended.
 */
export class SteeringGuard {
  readonly #limits: SandboxLimits;
  readonly #roots: readonly string[];
  readonly #pending: string;
  readonly #kept: string;
  readonly #finder: RepositoryFinder;
  #repositories: ReadonlySet<string> = new Set();
  #before = new Map<string, SteeringState | undefined>();
  #first = 0;
  /** The functions that end the commands that run now. */
  readonly #running = new Set<() => void>();
  readonly #watchers = new Map<string, FSWatcher>();
  #isLooking = false;
  #search: Promise<void>;
  #reports: string[] = [];

  constructor(limits: SandboxLimits, { pending }: Pick<SandboxFolders, "pending">) {
    this.#limits = limits;
    this.#roots = limits.writable.filter((folder) => !limits.gitFolders.includes(folder));
    this.#pending = pending;
    this.#kept = join(limits.stateFolder, "put-back");
    this.#finder = new RepositoryFinder(limits);
    this.#search = this.#adopt();
  }

  paths(): SteeringPaths {
    const there = [...this.#before].filter(([, state]) => state !== undefined);
    const pinned = there.filter(([path, state]) => basename(path) === ".git" && state?.kind === "folder");
    const present = there.filter((each) => !pinned.includes(each));
    return { present: present.map(([path]) => path), pinned: pinned.map(([path]) => path) };
  }

  /** Looks how things are before a command. `end` ends it at once. */
  async begin(end: () => void): Promise<void> {
    // Of the command before, whose last look may be under way.
    await this.#search;
    if (this.#running.size === 0) {
      // What people changed since the last command counts.
      this.#before = new Map(this.#paths().map((path) => [path, stateOf(path)]));
      this.#first ||= Date.now();
    }
    this.#running.add(end);
  }

  /** Watches, and notes how things were for another process. To be called before the command runs. */
  watch(): void {
    const before = [...this.#before].map(([path, state]) => [path, state ?? null] as const);
    const look: PendingLook = { roots: this.#roots, first: this.#first, before };
    writeFileSync(this.#pending, JSON.stringify(look), { mode: 0o600 });
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

  async settled(): Promise<void> {
    await this.#search;
  }

  /** Puts back what commands of a killed process did, by its notes. False where these ran elsewhere. */
  recover(pending: string): boolean {
    const noted = safeParse(existsSync(pending) ? readFileSync(pending, "utf8") : "");
    // Without notes, or with half of them, no command had begun.
    if (!noted.ok || !isRecord(noted.value)) return true;
    const { roots, first, before } = noted.value as unknown as PendingLook;
    if (!roots.some((root) => this.#roots.includes(root))) return false;
    this.#before = new Map(before.map(([path, state]) => [path, state ?? undefined]));
    this.#first = first;
    this.#look();
    return true;
  }

  #paths(): readonly string[] {
    const { writable, gitFolders } = this.#limits;
    const folders = new Set([...this.#roots, ...this.#repositories]);
    return [
      ...this.#roots.flatMap(steeringOfRoot),
      ...[...folders].flatMap((each) => steeringOfRepository(each, writable)),
      ...gitFolders.flatMap((git) => [
        ...steeringOfGit(git),
        ...namedBySettings(git, [dirname(git), ...this.#roots], writable),
      ]),
    ];
  }

  /** Inotify tells of a folder's own entries only, so a busy tree below costs nothing. */
  #watch(): void {
    for (const folder of this.#roots.flatMap((root) => [root, join(root, ".git")])) {
      if (this.#watchers.has(folder) || !existsSync(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#lookSoon());
        // A folder that goes away is nothing to watch any more.
        watcher.on("error", () => watcher.close());
        this.#watchers.set(folder, watcher);
      } catch {
        // Gone this moment, or no more watches: the look afterwards finds it.
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
    this.#judge(new Set([...this.#before.keys(), ...this.#paths()]));
    return this.#reports.length > count;
  }

  #judge(paths: Iterable<string>): void {
    const guarded = [...this.paths().pinned, ...this.#limits.gitFolders];
    for (const path of paths) {
      const [before, now] = [this.#before.get(path), stateOf(path)];
      if (mayChange(path, before, now, guarded)) {
        this.#before.set(path, now);
        // What git makes in a new one counts at once.
        if (basename(path) === ".git" && now?.kind === "folder") guarded.push(path);
      } else this.#reports.push(...[putBack(path, before, this.#kept) ?? []].flat());
    }
  }

  /** Takes on repositories that were not known: as they are if they are older than the commands. */
  async #adopt(): Promise<void> {
    const found = await this.#finder.find(this.#roots);
    for (const folder of found) {
      if (this.#repositories.has(folder) || this.#roots.includes(folder)) continue;
      const isOld = (path: string): boolean =>
        this.#first === 0 || (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) < this.#first;
      const paths = steeringOfRepository(folder, this.#limits.writable);
      for (const path of paths.filter(isOld)) this.#before.set(path, stateOf(path));
      this.#judge(paths.filter((path) => !isOld(path)));
    }
    this.#repositories = found;
    if (this.#running.size === 0) rmSync(this.#pending, { force: true });
  }
}

const DEPTH = 3;
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Git as a program that only looks: a repository could name a server to fetch what is missing from. */
const GIT_LOOKS = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

/** Finds repositories: at most three levels down, and submodules at any depth. */
class RepositoryFinder {
  readonly #env: NodeJS.ProcessEnv;
  /** The folders named by an index, with the state it had then. */
  readonly #submodules = new Map<string, { readonly index: string; readonly folders: readonly string[] }>();

  constructor({ environment: { PATH, HOME } }: SandboxLimits) {
    this.#env = { PATH, HOME, GIT_ALLOW_PROTOCOL: "", GIT_NO_LAZY_FETCH: "1" };
  }

  /** The folders in `roots`, those included, that have a `.git` or are a repository. Never rejects. */
  async find(roots: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set((await Promise.all(roots.map((root) => repositoriesIn(root, DEPTH)))).flat());
    // A submodule that is found may have submodules itself.
    for (const folder of found)
      for (const inner of await this.#submodulesOf(folder))
        if (existsSync(join(inner, ".git"))) found.add(inner);
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
  const names = entries.map(({ name }) => name);
  const own = names.includes(".git") || isRepository(names) ? [folder] : [];
  const inner = entries.filter(
    (entry) => depth > 0 && entry.isDirectory() && entry.name !== ".git" && entry.name !== "node_modules",
  );
  const found = await Promise.all(inner.map(({ name }) => repositoriesIn(join(folder, name), depth - 1)));
  return [...own, ...found.flat()];
}
