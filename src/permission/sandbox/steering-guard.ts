import { execFile } from "node:child_process";
import * as fs from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { newUuid } from "../../core/base/ids.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import { descriptorPath, isOpenAt } from "../../system/open-descriptor.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { systemCode } from "../../system/system-error.ts";
import { isWrittenByGit, readGitPointer } from "../git-settings.ts";
import { namesIn, type SandboxFolders, type SandboxLimits, type SteeringPaths } from "./sandbox-limits.ts";

/** Stored while commands run, in case this process is killed. */
interface PendingCheck {
  readonly roots: readonly string[];
  /** The start of the first command: anything older was not made by one. */
  readonly first: number;
  readonly before: readonly (readonly [path: string, state: SteeringState | null])[];
}

/**
 * Restores files that steer git, editors and this program. Existing ones cannot be written to; new ones are
 * put back, in the roots at once and elsewhere when a command has ended.
 */
export class SteeringGuard {
  readonly #limits: SandboxLimits;
  readonly #roots: readonly string[];
  readonly #pending: string;
  readonly #backups: string;
  readonly #submodules: (folder: string) => Promise<readonly string[]>;
  #repositories: readonly string[] = [];
  #before = new Map<string, SteeringState | undefined>();
  #first = 0;
  readonly #running = new Set<() => void>();
  readonly #watchers = new Map<string, fs.FSWatcher>();
  #isCheckScheduled = false;
  #search: Promise<void>;
  #reports: string[] = [];

  constructor(limits: SandboxLimits, { pending }: Pick<SandboxFolders, "pending">) {
    this.#limits = limits;
    this.#roots = limits.writable.filter((folder) => !limits.gitFolders.includes(folder));
    this.#pending = pending;
    this.#backups = join(limits.stateFolder, "put-back");
    this.#submodules = submoduleFinder(limits);
    this.#search = this.#guardNewRepositories();
  }

  paths(): SteeringPaths {
    const [present, pinned]: [string[], string[]] = [[], []];
    for (const [path, state] of this.#before)
      if (state !== undefined)
        (basename(path) === ".git" && state.kind === "folder" ? pinned : present).push(path);
    return { present, pinned };
  }

  /** Records the state before a command. `end` ends it at once. */
  async begin(end: () => void): Promise<void> {
    await this.#search;
    if (this.#running.size === 0) {
      // People's changes since the last command are accepted.
      this.#before = new Map(this.#paths().map((path) => [path, stateOf(path)]));
      this.#first ||= Date.now();
    }
    this.#running.add(end);
  }

  /** Watches, and saves the previous state. Call it before the command runs. */
  watch(): void {
    const before = [...this.#before].map(([path, state]) => [path, state ?? null] as const);
    const pendingCheck: PendingCheck = { roots: this.#roots, first: this.#first, before };
    fs.writeFileSync(this.#pending, JSON.stringify(pendingCheck), { mode: 0o600 });
    this.#watch();
  }

  /** Checks after a command. Deeper folders are searched afterwards, before the next one. */
  end(end: () => void): void {
    if (!this.#running.delete(end)) return;
    this.#checkNow();
    this.#search = this.#guardNewRepositories();
    if (this.#running.size > 0) return;
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  takeReports(): readonly string[] {
    return this.#reports.splice(0);
  }

  settled(): Promise<void> {
    return this.#search;
  }

  /** Puts back changes by commands of a killed process. False if these ran in other folders. */
  recover(pending: string): boolean {
    const saved = safeParse(fs.existsSync(pending) ? fs.readFileSync(pending, "utf8") : "");
    // If it is missing or incomplete, no command had begun.
    if (!saved.ok || !isRecord(saved.value)) return true;
    const { roots, first, before } = saved.value as unknown as PendingCheck;
    if (!roots.some((root) => this.#roots.includes(root))) return false;
    this.#before = new Map(before.map(([path, state]) => [path, state ?? undefined]));
    this.#first = first;
    this.#checkNow();
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

  /** Inotify only reports a folder's own entries, so a busy tree below costs nothing. */
  #watch(): void {
    for (const folder of this.#roots.flatMap((root) => [root, join(root, ".git")])) {
      if (this.#watchers.has(folder) || !fs.existsSync(folder)) continue;
      try {
        const watcher = fs.watch(folder, { persistent: false }, () => this.#checkSoon());
        watcher.on("error", () => watcher.close());
        this.#watchers.set(folder, watcher);
      } catch {
        // Just removed, or no more watches: the check afterwards finds it.
      }
    }
  }

  #checkSoon(): void {
    if (this.#isCheckScheduled) return;
    this.#isCheckScheduled = true;
    setImmediate(() => {
      this.#isCheckScheduled = false;
      if (this.#running.size === 0) return;
      this.#watch();
      if (!this.#checkNow()) return;
      this.#reports.push("the command was ended for it");
      for (const end of this.#running) end();
    });
  }

  #checkNow(): boolean {
    const count = this.#reports.length;
    this.#restoreChanged(new Set([...this.#before.keys(), ...this.#paths()]));
    return this.#reports.length > count;
  }

  #restoreChanged(paths: Iterable<string>): void {
    const guarded = [...this.paths().pinned, ...this.#limits.gitFolders];
    for (const path of paths) {
      const [before, now] = [this.#before.get(path), stateOf(path)];
      if (mayChange(path, before, now, guarded)) {
        this.#before.set(path, now);
        // Files that git creates in a new one count at once.
        if (basename(path) === ".git" && now?.kind === "folder") guarded.push(path);
      } else this.#reports.push(...[restore(path, before, this.#backups) ?? []].flat());
    }
  }

  /** Those older than the commands are guarded as they are. */
  async #guardNewRepositories(): Promise<void> {
    const found = new Set(
      (await Promise.all(this.#roots.map((root) => repositoriesIn(root, REPOSITORY_DEPTH)))).flat(),
    );
    // Submodules may have submodules.
    for (const folder of found)
      for (const inner of await this.#submodules(folder))
        if (fs.existsSync(join(inner, ".git"))) found.add(inner);
    for (const folder of found) {
      if (this.#repositories.includes(folder) || this.#roots.includes(folder)) continue;
      const isOld = (path: string): boolean =>
        this.#first === 0 || (fs.statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) < this.#first;
      const paths = steeringOfRepository(folder, this.#limits.writable);
      for (const path of paths.filter(isOld)) this.#before.set(path, stateOf(path));
      this.#restoreChanged(paths.filter((path) => !isOld(path)));
    }
    this.#repositories = [...found];
    if (this.#running.size === 0) fs.rmSync(this.#pending, { force: true });
  }
}

const REPOSITORY_DEPTH = 3;

async function repositoriesIn(folder: string, depth: number): Promise<readonly string[]> {
  // A folder that is gone or closed to this user holds none.
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.map(({ name }) => name);
  const own = names.includes(".git") || isRepository(names) ? [folder] : [];
  const inner = entries.filter(
    (entry) => depth > 0 && entry.isDirectory() && entry.name !== ".git" && entry.name !== "node_modules",
  );
  const found = await Promise.all(inner.map(({ name }) => repositoriesIn(join(folder, name), depth - 1)));
  return [...own, ...found.flat()];
}

const MAX_LIST = 64 * 1024 * 1024;
const LIST = "-c core.fsmonitor=false -c core.hooksPath=/dev/null ls-files -s -z".split(" ");

/** Lists the submodules in an index, again if it has changed. A repository could name a server. */
function submoduleFinder({
  environment: { PATH, HOME },
}: SandboxLimits): (folder: string) => Promise<readonly string[]> {
  const env = { PATH, HOME, GIT_ALLOW_PROTOCOL: "", GIT_NO_LAZY_FETCH: "1" };
  const known = new Map<string, readonly [index: string, folders: readonly string[]]>();
  return async (folder) => {
    const git = join(folder, ".git");
    const stats = fs.statSync(join(readGitPointer(git)?.own ?? git, "index"), { throwIfNoEntry: false });
    const index = `${stats?.mtimeMs} ${stats?.size} ${stats?.ino}`;
    const [listedIndex, listed] = known.get(folder) ?? [];
    if (stats === undefined || listedIndex === index) return listed ?? [];
    const output = await new Promise<string>((done) => {
      const options = { env, cwd: "/", maxBuffer: MAX_LIST };
      execFile("git", ["-C", folder, ...LIST], options, (_error, text) => done(text)).stdin?.end();
    });
    const named = [...output.matchAll(/(?:^|\0)160000 [^\0\t]*\t([^\0]+)/g)];
    const folders = named.map(([, path = ""]) => join(folder, path));
    known.set(folder, [index, folders]);
    return folders;
  };
}

/** Names in a workspace root that steer the agent and editors; `HEAD` makes a repository of it. */
const IN_ROOT = ".nano-agent nano-agent.json .mcp.json .claude .vscode .idea HEAD".split(" ");
/** Files and folders of a git folder that make git run programs or redirect it. */
const IN_GIT = ["config", "config.worktree", "hooks", "commondir"];
const IN_WORKTREE = [...IN_GIT, "gitdir"];
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
const UNFOLLOWED = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
const MAX_BYTES = 1_000_000;
/** Submodules may have submodules, and slashes in their names. */
const MAX_DEPTH = 12;

/** `text`: the content of a file, or the target of a link. */
interface SteeringState {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly text: string;
}

// These functions also return paths that do not exist.

export function steeringOfRoot(root: string): readonly string[] {
  return IN_ROOT.map((name) => join(root, name));
}

/** A folder's `.git`, its contents, and the paths in its settings. The folder may be a repository itself. */
export function steeringOfRepository(folder: string, writable: readonly string[]): readonly string[] {
  const git = join(folder, ".git");
  const bare = isRepository(namesIn(folder)) ? steeringOfGit(folder) : [];
  return [git, ...steeringOfGit(git), ...namedBySettings(git, [folder], writable), ...bare];
}

/** The paths inside `writable` in a git folder's settings; hooks start from each of its `folders`. */
function namedBySettings(
  git: string,
  folders: readonly string[],
  writable: readonly string[],
): readonly string[] {
  const { text = "" } = stateOf(join(git, "config")) ?? {};
  const named = [...text.matchAll(/^\s*(path|hookspath)\s*=\s*"?([^"\n]+?)"?\s*$/gim)].flatMap(
    ([, key = "", value = ""]) =>
      (key.toLowerCase() === "path" ? [git] : folders).map((folder) => resolve(folder, value)),
  );
  return named.filter((path) => isWithin(path, ...writable) && !writable.includes(path));
}

export function steeringOfGit(git: string): readonly string[] {
  const hooks = namesIn(join(git, "hooks")).filter((name) => !name.endsWith(".sample"));
  return [
    ...IN_GIT.map((name) => join(git, name)),
    ...hooks.map((name) => join(git, "hooks", name)),
    ...namesIn(join(git, "worktrees")).flatMap((tree) =>
      IN_WORKTREE.map((name) => join(git, "worktrees", tree, name)),
    ),
    ...gitFoldersIn(join(git, "modules"), MAX_DEPTH).flatMap(steeringOfGit),
  ];
}

function gitFoldersIn(folder: string, depth: number): readonly string[] {
  if (depth === 0) return [];
  const inner = namesIn(folder).map((name) => join(folder, name));
  return inner.flatMap((each) => (namesIn(each).includes("HEAD") ? [each] : gitFoldersIn(each, depth - 1)));
}

function stateOf(path: string): SteeringState | undefined {
  try {
    if (basename(path) === "HEAD" && !isRepository(namesIn(dirname(path)))) return undefined;
    const found = fs.lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    if (found.isSymbolicLink()) return { kind: "link", text: fs.readlinkSync(path) };
    if (found.isDirectory()) return { kind: "folder", text: "" };
    if (found.isFile() && found.size <= MAX_BYTES)
      return { kind: "file", text: fs.readFileSync(path, { encoding: "utf8", flag: UNFOLLOWED }) };
    return { kind: "other", text: `${found.size} ${found.mtimeMs}` };
  } catch {
    // Just removed, or in a folder that is closed to this user.
    return undefined;
  }
}

/** True if git would treat a folder with these names as a repository without a `.git`. */
function isRepository(names: readonly string[]): boolean {
  const has = (name: string): boolean => names.includes(name);
  return has("HEAD") && ((has("objects") && has("refs")) || has("commondir"));
}

/** Each hook of a new git folder is checked separately. */
const IS_NEW_FOLDER = /\/\.git(?:\/(?:modules\/.+\/)?hooks)?$/;

/** True for a change that a command may cause: files that git creates and writes. `guarded`: git folders. */
function mayChange(
  path: string,
  before: SteeringState | undefined,
  now: SteeringState | undefined,
  guarded: readonly string[],
): boolean {
  // State without text cannot be written back.
  if (now === undefined) return before?.kind !== "file" && before?.kind !== "link";
  const { kind, text } = now;
  if (before?.kind === kind && before.text === text) return true;
  if (kind === "folder") return IS_NEW_FOLDER.test(path);
  return kind === "file" && mayWrite(path, text, before, guarded);
}

function mayWrite(
  path: string,
  text: string,
  before: SteeringState | undefined,
  guarded: readonly string[],
): boolean {
  const name = basename(path);
  if (name === ".git") return leadsInside(path, text, guarded);
  if (name === "config")
    return isWrittenByGit(text, `${before?.text ?? ""}\n${moduleLocationLines(path, text)}`);
  if (name === "commondir") return path.includes("/worktrees/") && text.trim() === "../..";
  return name === "gitdir" && before === undefined;
}

/** True for a pointer into a guarded git folder: a worktree or submodule that git made there. */
function leadsInside(path: string, text: string, guarded: readonly string[]): boolean {
  const to = /^gitdir: (.+)\n?$/.exec(text)?.[1];
  if (to === undefined) return false;
  const place = realPath(resolve(dirname(path), to));
  const isNear = (git: string): boolean => relative(git, place).split("/").length <= MAX_DEPTH;
  return guarded
    .map(realPath)
    .some((git) => isWithin(place, join(git, "worktrees"), join(git, "modules")) && isNear(git));
}

function moduleLocationLines(path: string, text: string): string {
  const to = /^\tworktree = ([\w./-]+)$/m.exec(text)?.[1];
  const [repository = "", module] = path.split("/.git/modules/");
  const isInside = to !== undefined && isWithin(resolve(dirname(path), to), repository);
  return module !== undefined && isInside ? `[core]\n\tworktree = ${to}` : "";
}

/**
 * Moves a path's content to `backups` and rewrites the previous file or link. Returns a line reporting it.
 */
function restore(path: string, before: SteeringState | undefined, backups: string): string | undefined {
  const folder = join(backups, newUuid());
  const target = join(folder, basename(path));
  const isMoved =
    stateOf(path) !== undefined &&
    inFolderOf(path, (place) => {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      move(place, target);
    });
  const { kind, text = "" } = before ?? {};
  const isWritten =
    (kind === "link" && inFolderOf(path, (place) => fs.symlinkSync(text, place))) ||
    (kind === "file" && inFolderOf(path, (place) => fs.writeFileSync(place, text, { flag: "wx" })));
  if (!isMoved && !isWritten) return undefined;
  return `${path} is as it was before${isMoved ? `; the command's version is kept as ${target}` : ""}`;
}

/** A running command could put a link in place of the folder. False if it is gone. */
function inFolderOf(path: string, act: (place: string) => void): boolean {
  let folder: number | undefined;
  try {
    folder = fs.openSync(dirname(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!isOpenAt(folder, dirname(path))) return false;
    act(join(descriptorPath(folder) ?? dirname(path), basename(path)));
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  } finally {
    if (folder !== undefined) fs.closeSync(folder);
  }
}

function move(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== "EXDEV") throw error;
    fs.cpSync(from, to, { recursive: true, dereference: false, verbatimSymlinks: true });
    fs.rmSync(from, { recursive: true, force: true });
  }
}
