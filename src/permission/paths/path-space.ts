import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { posix, win32 } from "node:path";
import { sessionPlace } from "../../system/session-temporary.ts";
import { spelledPath } from "../../system/spelled-path.ts";
import { fold } from "./match-path.ts";

/** Where paths start and how they are spelled. */
export interface PathSpaceOptions {
  /** Folder that relative paths refer to. */
  readonly cwd: string;
  /** The path that `~` stands for. */
  readonly home: string;
  /** Folders the agent works in. The first is what relative patterns refer to most. */
  readonly workspace: readonly string[];
  /**
   * The folder that commands of the session see as `/tmp`: tools read and write there as in the workspace.
   */
  readonly temporary?: (() => string | undefined) | undefined;
  /** nano-agent's own folders, where writing always asks. Default: only those with the usual names. */
  readonly machinery?: readonly string[];
  /** As in `PATH`: no built-in rule covers a program found in the workspace. Default: not looked at. */
  readonly searchPath?: string;
  /** `win32`: drives, UNC, backslashes. `win32`, `darwin`: capitals do not matter. Default: this machine. */
  readonly platform?: NodeJS.Platform;
  /** Target of the link at a path, `undefined` when there is none. Default: looks on disk. */
  readonly readLink?: (path: string) => string | undefined;
}

/** A path a call names, in the forms rules look at; all with `/` between folders. */
export interface JudgedPath {
  /** As the caller wrote it. */
  readonly given: string;
  /** Absolute, links not followed: with `..` taken out, and as it stands. */
  readonly written: readonly string[];
  /** The place the system would open. */
  readonly resolved: string;
  /** Not a plain file name: a device, another drive's folder, a name with a hole in it. */
  readonly odd?: string | undefined;
}

/** No system opens a longer path: there is nothing to look up. */
const MAX_PATH = 32_768;
/** As many links as Linux follows. */
const MAX_LINKS = 40;

/** Resolves paths on disk and tells what is inside the workspace. Never throws. */
export class PathSpace {
  readonly workspace: readonly string[];
  readonly home: string;
  readonly ignoreCase: boolean;
  readonly #options: PathSpaceOptions;
  readonly #windows: boolean;
  readonly #system: typeof posix;
  readonly #roots: readonly string[];
  readonly #machinery: readonly string[];
  /** Targets of links since the last {@link refresh}. */
  readonly #links = new Map<string, string | undefined>();

  constructor(options: PathSpaceOptions) {
    const platform = options.platform ?? process.platform;
    this.#options = options;
    this.#windows = platform === "win32";
    this.#system = this.#windows ? win32 : posix;
    this.ignoreCase = this.#windows || platform === "darwin";
    const resolved = (folder: string): string => this.path(folder).resolved;
    this.workspace = options.workspace.map(resolved);
    const written = options.workspace.flatMap((folder) => this.path(folder).written);
    this.#roots = [...new Set([...this.workspace, ...written])];
    this.home = resolved(options.home);
    this.#machinery = (options.machinery ?? []).map(resolved);
  }

  /** Forgets what was looked up: the next check sees the disk as it is then. */
  refresh(): void {
    this.#links.clear();
  }

  /** The folder that relative paths start in, links resolved. */
  get place(): string {
    return this.path(".").resolved;
  }

  /** The same space for paths that start in another folder. */
  from(folder: string): PathSpace {
    return new PathSpace({ ...this.#options, cwd: this.path(folder).resolved });
  }

  /** The forms of a path. `base` replaces the working folder. */
  path(given: string, base: string = this.#options.cwd): JudgedPath {
    const system = this.#system;
    const expanded = this.#expandHome(given);
    const isTooLong = expanded.length > MAX_PATH;
    const odd = isTooLong ? "it is longer than any path" : this.#oddness(expanded);
    const lexical = system.resolve(base, expanded);
    const rooted = /^[\\/](?![\\/])/.test(expanded) && this.#windows ? lexical : expanded;
    const absolute = system.isAbsolute(rooted)
      ? sessionPlace(rooted, this.#options.temporary?.())
      : `${base}${system.sep}${rooted}`;
    const written = [...new Set([lexical, absolute].map((path) => this.#spell(path)))];
    // Where the links of such a path lead is not looked up: it is nowhere that a rule for a folder describes.
    return {
      given,
      written,
      resolved: isTooLong ? "/" : this.#spell(this.#resolve(spelledPath(absolute))),
      odd,
    };
  }

  /** True when a resolved path lies in the workspace or among the session's temporary files. */
  isInside(resolved: string): boolean {
    return this.workspace.some((root) => isWithin(resolved, root)) || this.#isTemporary(resolved);
  }

  /** True when writing at a path could make something run later, or change what nano-agent may do. */
  isProtected({ resolved, written }: JudgedPath): boolean {
    return (
      [resolved, ...written].some(steers) ||
      (!this.#isTemporary(resolved) && this.#machinery.some((folder) => isWithin(resolved, folder)))
    );
  }

  #isTemporary(resolved: string): boolean {
    const temporary = this.#options.temporary?.();
    return temporary !== undefined && isWithin(resolved, temporary);
  }

  /** True when a command of this name runs a program of the workspace, or of the packages around it. */
  hasProgram(name: string): boolean {
    const { searchPath, cwd } = this.#options;
    if (searchPath === undefined) return false;
    const system = this.#system;
    const names = this.#windows ? [name, `${name}.exe`] : [name];
    const entry = searchPath
      .split(system.delimiter)
      .find((each) => names.some((file) => existsSync(system.join(system.resolve(cwd, each), file))));
    if (entry === undefined) return false;
    // An empty entry is the working folder.
    if (!system.isAbsolute(entry)) return true;
    const packages = /^(.*)\/node_modules\/\.bin$/s.exec(this.slashes(entry))?.[1];
    const isAround = packages !== undefined && isWithin(this.place, packages);
    return isAround || this.workspace.some((root) => isWithin(this.path(entry).resolved, root));
  }

  /** A path relative to each workspace folder that holds it. */
  insideForms(path: string): readonly string[] {
    const forms = this.#roots
      .filter((root) => isWithin(path, root))
      .map((root) => (path === root ? "." : path.slice(withSlash(root).length)));
    return [...new Set(forms)];
  }

  /** A pattern that is absolute or starts at home, as an absolute one; `undefined` for any other. */
  absolutePattern(pattern: string): string | undefined {
    const text = this.slashes(pattern);
    if (text === "~") return this.home;
    if (text.startsWith("~/")) return `${withSlash(this.home)}${text.slice(2)}`;
    const isAbsolute = text.startsWith("/") || (this.#windows && /^[A-Za-z]:\//.test(text));
    return isAbsolute ? text : undefined;
  }

  /** A pattern with `/` between folders. */
  slashes(pattern: string): string {
    return this.#windows ? pattern.replaceAll("\\", "/") : pattern;
  }

  #expandHome(path: string): string {
    return /^~(?:\/|$)/.test(this.slashes(path)) ? `${this.#options.home}${path.slice(1)}` : path;
  }

  /** With single `/` between folders and none at the end; drives with a capital. */
  #spell(path: string): string {
    const text = this.slashes(path)
      .replaceAll(this.#windows ? /(?<!^)\/+/g : /\/+/g, "/")
      .replace(/^[a-z]:/, (drive) => drive.toUpperCase());
    return /^(?:[A-Z]:)?\/$/.test(text) ? text : text.replace(/\/$/, "");
  }

  #oddness(path: string): string | undefined {
    if (path.includes("\0")) return "it has a null character in it";
    if (path === "") return "it is empty";
    if (!this.#windows) return undefined;
    if (/^[A-Za-z]:(?![\\/])/.test(path)) return "it starts at the working folder of a drive";
    const [, ...parts] = `/${path.replace(/^[A-Za-z]:/, "")}`.split(/[\\/]/);
    const isDevice = parts.some((part) =>
      /^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\.|$)/i.test(part),
    );
    if (isDevice || /^[\\/]{2}[.?][\\/]/.test(path)) return "it is a device";
    // Streams, short names, and endings that the system leaves out.
    const isOther = parts.some((part) => /:|~\d|[. ]$/.test(part) && part !== "." && part !== "..");
    return isOther ? "it may be another name of a file" : undefined;
  }

  /** Follows links part by part; `..` is taken after following. What is not there yet is kept as written. */
  #resolve(absolute: string): string {
    const system = this.#system;
    const rootOf = (path: string): string => system.parse(path).root;
    const split = (path: string): readonly string[] =>
      path
        .slice(rootOf(path).length)
        .split(this.#windows ? /[\\/]+/ : /\/+/)
        .reverse();
    const pending = [...split(absolute)];
    let current = rootOf(absolute);
    let links = 0;
    for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
      if (part === "" || part === ".") continue;
      const next = system.join(current, part);
      const target = part === ".." || links === MAX_LINKS ? undefined : this.#linkAt(next);
      if (target === undefined) {
        current = next;
        continue;
      }
      links++;
      if (system.isAbsolute(target)) current = rootOf(target);
      pending.push(...split(target));
    }
    return current;
  }

  #linkAt(path: string): string | undefined {
    if (!this.#links.has(path)) this.#links.set(path, (this.#options.readLink ?? linkOnDisk)(path));
    return this.#links.get(path);
  }
}

function linkOnDisk(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    // The system refuses to look (no permission, a file used as a folder): it will not open it either.
    return undefined;
  }
}

/** True when `path` is `folder` or below it; both resolved and written with `/`. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(withSlash(folder));
}

const STEERING = new Set(".git .nano-agent nano-agent.json .mcp.json .claude .vscode .idea".split(" "));

/** True for a path that is, or lies below, what steers git, editors or nano-agent. */
function steers(path: string): boolean {
  // Some file systems ignore these characters, and endings, in names.
  const parts = fold(path.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ""))
    .split("/")
    .map((part) => part.replace(/[. ]+$/, ""));
  return parts.some(
    (part, index) =>
      STEERING.has(part) ||
      /^git~\d$/.test(part) ||
      (part === "nano-agent" && parts[index - 1] === ".config"),
  );
}

function withSlash(folder: string): string {
  return folder.endsWith("/") ? folder : `${folder}/`;
}
