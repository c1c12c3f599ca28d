import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve, sep } from "node:path";
import { followLinks } from "../system/follow-links.ts";
import { sessionPath } from "../system/session-path.ts";
import { fold } from "./match-text.ts";

/** The base folders of paths and their spelling. */
export interface PathSpaceOptions {
  /** Folder that relative paths refer to. */
  readonly cwd: string;
  /** The path that `~` stands for. */
  readonly home: string;
  /** Folders the agent works in. Relative patterns usually refer to the first. */
  readonly workspace: readonly string[];
  /** The folder that commands of the session see as `/tmp`: it counts as part of the workspace. */
  readonly temporary?: (() => string | undefined) | undefined;
  /** nano-agent's own folders, where writing always asks. Default: only those with the usual names. */
  readonly machinery?: readonly string[];
  /** As in `PATH`: no built-in rule covers a program found in the workspace. Default: not checked. */
  readonly searchPath?: string;
}

/** All absolute, with `/` between folders. */
export interface JudgedPath {
  readonly given: string;
  /** Links not followed: with `..` removed, and as written. */
  readonly written: readonly string[];
  readonly resolved: string;
  readonly oddity?: string | undefined;
}

const MAX_PATH = 32_768;
const IS_WINDOWS = sep === "\\";

/** Never throws. */
export class PathSpace {
  readonly home: string;
  readonly ignoreCase: boolean = IS_WINDOWS || process.platform === "darwin";
  readonly #options: PathSpaceOptions;
  readonly #workspace: readonly string[];
  readonly #roots: readonly string[];
  readonly #machinery: readonly string[];

  constructor(options: PathSpaceOptions) {
    this.#options = options;
    const resolved = (folder: string): string => this.resolve(folder).resolved;
    this.#workspace = options.workspace.map(resolved);
    this.#roots = [
      ...this.#workspace,
      ...options.workspace.flatMap((folder) => this.resolve(folder).written),
    ];
    this.home = resolved(options.home);
    this.#machinery = (options.machinery ?? []).map(resolved);
  }

  get cwd(): string {
    return this.resolve(".").resolved;
  }

  withCwd(folder: string): PathSpace {
    return folder === this.#options.cwd ? this : new PathSpace({ ...this.#options, cwd: folder });
  }

  /** `base` replaces the working folder. */
  resolve(given: string, base: string = this.#options.cwd): JudgedPath {
    const expanded = /^~(?:\/|$)/.test(slashes(given)) ? this.#options.home + given.slice(1) : given;
    if (expanded.length > MAX_PATH)
      return { given, written: [], resolved: "/", oddity: "it is longer than any path" };
    const absolute = isAbsolute(expanded)
      ? sessionPath(expanded, this.#options.temporary?.())
      : `${base}${sep}${expanded}`;
    return {
      given,
      written: [...new Set([resolve(base, expanded), absolute].map(normalisePath))],
      resolved: normalisePath(followLinks(absolute)),
      oddity: oddityOf(expanded),
    };
  }

  isInside(resolved: string): boolean {
    return isBelow(resolved, ...this.#workspace) || this.#isTemporary(resolved);
  }

  /** True if writing to a path could make something run later, or change nano-agent's permissions. */
  isProtected({ resolved, written }: JudgedPath): boolean {
    const isMachinery = !this.#isTemporary(resolved) && isBelow(resolved, ...this.#machinery);
    return isMachinery || [resolved, ...written].some(isSteeringPath);
  }

  #isTemporary(resolved: string): boolean {
    const temporary = this.#options.temporary?.();
    return temporary !== undefined && isBelow(resolved, temporary);
  }

  /** True if a command with this name runs a program from the workspace or the packages around it. */
  hasProgram(name: string): boolean {
    const { searchPath, cwd } = this.#options;
    const entry = searchPath?.split(delimiter).find((each) => existsSync(join(resolve(cwd, each), name)));
    if (entry === undefined) return false;
    // An empty entry means the working folder.
    if (!isAbsolute(entry)) return true;
    const [, packages] = /^(.*)\/node_modules\/\.bin$/s.exec(slashes(entry)) ?? [];
    const isAround = packages !== undefined && isBelow(this.cwd, packages);
    return isAround || isBelow(this.resolve(entry).resolved, ...this.#workspace);
  }

  workspaceForms(path: string): readonly string[] {
    const roots = this.#roots.filter((root) => isBelow(path, root));
    return [...new Set(roots.map((root) => path.slice(root.length).replace(/^\//, "") || "."))];
  }

  /** The absolute form of a pattern that is absolute or starts with `~`; `undefined` for any other. */
  absolutePattern(pattern: string): string | undefined {
    const text = slashes(pattern);
    if (/^~(?:\/|$)/.test(text)) return normalisePath(this.home + text.slice(1));
    return isAbsolute(text) ? text : undefined;
  }
}

function isBelow(path: string, ...folders: readonly string[]): boolean {
  return folders.some(
    (folder) => path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`),
  );
}

export function slashes(path: string): string {
  return IS_WINDOWS ? path.replaceAll("\\", "/") : path;
}

function normalisePath(path: string): string {
  return slashes(path)
    .replaceAll(/(?<=.)\/+/g, "/")
    .replace(/(?<=.)\/$/, "");
}

function oddityOf(path: string): string | undefined {
  if (path.includes("\0")) return "it has a null character in it";
  if (path === "") return "it is empty";
  // Devices, streams, short names, drive-relative folders, and endings that the system ignores.
  const isOther =
    IS_WINDOWS && /^[\\/]{2}[.?]|(?<!^[A-Za-z]):|:(?![\\/])|~\d|(?<![\\/.])[. ](?:[\\/]|$)/.test(path);
  return isOther ? "it may be another name of a file" : undefined;
}

const STEERING_NAMES = new Set(".git .nano-agent nano-agent.json .mcp.json .claude .vscode .idea".split(" "));

function isSteeringPath(path: string): boolean {
  // Some file systems ignore these characters and endings in names.
  const parts = fold(path.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ""))
    .split("/")
    .map((part) => part.replace(/[. ]+$/, ""));
  return (
    parts.some((part) => STEERING_NAMES.has(part) || /^git~\d$/.test(part)) ||
    // It makes git treat a folder as a repository.
    parts.at(-1) === fold("HEAD") ||
    /\/\.config\/nano-agent(?:\/|$)/.test(parts.join("/"))
  );
}
