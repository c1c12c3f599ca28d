import { existsSync, realpathSync } from "node:fs";
import { posix, win32 } from "node:path";
import { LinkReader } from "./link-reader.ts";
import { fold } from "./match-path.ts";

/** Where paths start and how they are spelled. */
export interface PathSpaceOptions {
  /** Folder that relative paths refer to. */
  readonly cwd: string;
  /** The path that `~` stands for. */
  readonly home: string;
  /** Folders the agent works in. The first is what relative patterns refer to most. */
  readonly workspace: readonly string[];
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

/** A folder that programs are looked for in. */
interface SearchedFolder {
  readonly folder: string;
  /** True when it is of the workspace. */
  readonly isOwn: boolean;
}

/** No system opens a longer path: there is nothing to look up. */
const MAX_PATH = 32_768;
/** Folders above a path that are remembered one by one. */
const MAX_FOLDERS = 64;
/** As many links as Linux follows. */
const MAX_LINKS = 40;

/** Resolves paths on disk and tells what is inside the workspace. Never throws. */
export class PathSpace {
  readonly workspace: readonly string[];
  readonly home: string;
  readonly ignoreCase: boolean;
  readonly #options: PathSpaceOptions;
  readonly #windows: boolean;
  /** The lookups since the last {@link refresh}: most lines look nothing up. */
  #seen: Lookups | undefined;
  readonly #roots: readonly string[];
  readonly #machinery: readonly string[];

  /** `origin` is the space that this one is a view of. */
  constructor(options: PathSpaceOptions, origin?: PathSpace) {
    const platform = options.platform ?? process.platform;
    this.#options = options;
    this.#windows = platform === "win32";
    this.ignoreCase = this.#windows || platform === "darwin";
    if (origin !== undefined) {
      const { links, folders } = origin.#lookups;
      this.#seen = { ...newLookups(options), links, folders };
      this.workspace = origin.workspace;
      this.#roots = origin.#roots;
      this.home = origin.home;
      this.#machinery = origin.#machinery;
      return;
    }
    this.workspace = options.workspace.map((folder) => this.path(folder).resolved);
    const written = options.workspace.flatMap((folder) => this.path(folder).written);
    this.#roots = [...new Set([...this.workspace, ...written])];
    this.home = this.path(options.home).resolved;
    this.#machinery = (options.machinery ?? []).map((folder) => this.path(folder).resolved);
  }

  /** Forgets what was looked up: the next check sees the disk as it is then. */
  refresh(): void {
    this.#seen = undefined;
  }

  /** The folder that relative paths start in. */
  get cwd(): string {
    return this.#options.cwd;
  }

  /** The place of that folder, links resolved. */
  get place(): string {
    const { folders } = this.#lookups;
    const { cwd } = this;
    const place = folders.get(cwd) ?? this.#realPath(cwd) ?? this.#spell(this.#placeOf(cwd));
    folders.set(cwd, place);
    return place;
  }

  get #lookups(): Lookups {
    return (this.#seen ??= newLookups(this.#options));
  }

  /** The same space for paths that start in another folder, until the next {@link refresh}. */
  from(folder: string): PathSpace {
    const { views } = this.#lookups;
    const known = views.get(folder);
    if (known !== undefined) return known;
    const view = new PathSpace({ ...this.#options, cwd: this.path(folder).resolved }, this);
    views.set(folder, view);
    return view;
  }

  /** True when the shell and the system take a folder for the same: no `..` leads back through a link. */
  isUnambiguous(folder: string): boolean {
    const { written, resolved } = this.path(folder);
    return written.every((form) => this.path(form).resolved === resolved);
  }

  /** The forms of a path. `base` replaces the working folder. */
  path(given: string, base?: string): JudgedPath {
    if (base !== undefined) return this.#judge(given, base);
    const { judged } = this.#lookups;
    let path = judged.get(given);
    if (path === undefined) judged.set(given, (path = this.#judge(given, undefined)));
    return path;
  }

  #judge(given: string, base: string | undefined): JudgedPath {
    const system = this.#windows ? win32 : posix;
    const expanded = this.#expandHome(given);
    const cwd = base ?? this.#options.cwd;
    const rooted =
      this.#windows && /^[\\/](?![\\/])/.test(expanded)
        ? win32.parse(cwd).root + expanded.slice(1)
        : expanded;
    const absolute = system.isAbsolute(rooted) ? rooted : `${cwd}${system.sep}${rooted}`;
    const lexical = system.resolve(cwd, expanded);
    const isTooLong = absolute.length > MAX_PATH;
    const odd = isTooLong ? "it is longer than any path" : this.#oddness(expanded);
    const [plain, asItStands] = [this.#spell(lexical), this.#spell(absolute)];
    return {
      given,
      written: plain === asItStands ? [plain] : [plain, asItStands],
      // Where its links lead is not looked up: then it is nowhere that a rule for a folder describes.
      resolved: isTooLong ? "/" : expanded === "." ? this.place : this.#spell(this.#placeOf(absolute)),
      odd,
    };
  }

  /** True when a resolved path is a folder of the workspace or below one. */
  isInside(resolved: string): boolean {
    return this.workspace.some((root) => isWithin(resolved, root));
  }

  /** True when a path is part of the machinery of a repository or of nano-agent. */
  isMachinery({ resolved, written }: JudgedPath): boolean {
    return (
      [resolved, ...written].some(isMachinery) || this.#machinery.some((folder) => isWithin(resolved, folder))
    );
  }

  /** True when a command of this name runs a program of the workspace, or of the packages around it. */
  hasProgram(name: string): boolean {
    if (!this.searchesWorkspace) return false;
    const seen = this.#lookups;
    const known = seen.programs.get(name);
    if (known !== undefined) return known;
    const system = this.#windows ? win32 : posix;
    const isThere = (folder: string): boolean =>
      existsSync(system.join(folder, name)) ||
      (this.#windows && existsSync(system.join(folder, `${name}.exe`)));
    const isOwn = seen.searched?.find(({ folder }) => isThere(folder))?.isOwn === true;
    seen.programs.set(name, isOwn);
    return isOwn;
  }

  /** True when programs are looked for in folders of the workspace. */
  get searchesWorkspace(): boolean {
    const { searchPath } = this.#options;
    if (searchPath === undefined) return false;
    this.#lookups.searched ??= this.#searchedFolders(searchPath);
    return this.#lookups.searched.length > 0;
  }

  /** The folders in which programs are looked for, up to the last of the workspace. */
  #searchedFolders(searchPath: string): readonly SearchedFolder[] {
    const system = this.#windows ? win32 : posix;
    // An empty entry is the working folder.
    const entries = searchPath.split(system.delimiter).map((entry) => {
      const folder = system.resolve(this.#options.cwd, entry);
      return { folder, isOwn: !system.isAbsolute(entry) || this.#isOwnFolder(folder) };
    });
    return entries.slice(0, entries.findLastIndex(({ isOwn }) => isOwn) + 1);
  }

  #isOwnFolder(folder: string): boolean {
    const path = this.path(folder).resolved;
    const packages = /^(.*)\/node_modules\/\.bin$/s.exec(this.slashes(folder))?.[1];
    return this.isInside(path) || (packages !== undefined && isWithin(this.place, packages));
  }

  /** A path relative to each workspace folder that holds it. */
  insideForms(path: string): readonly string[] {
    const forms: string[] = [];
    for (const root of this.#roots) {
      if (!isWithin(path, root)) continue;
      const form = path === root ? "." : path.slice(prefixOf(root).length);
      if (!forms.includes(form)) forms.push(form);
    }
    return forms;
  }

  /** A pattern that is absolute or starts at home, as an absolute one; `undefined` for any other. */
  absolutePattern(pattern: string): string | undefined {
    const text = this.slashes(pattern);
    if (text === "~") return this.home;
    if (text.startsWith("~/")) return `${prefixOf(this.home)}${text.slice(2)}`;
    if (text.startsWith("/")) return text;
    if (this.#windows && /^[A-Za-z]:\//.test(text)) return text;
    return undefined;
  }

  /** A pattern with `/` between folders. */
  slashes(pattern: string): string {
    return this.#windows ? pattern.replaceAll("\\", "/") : pattern;
  }

  #expandHome(path: string): string {
    if (path === "~" || path.startsWith("~/") || (this.#windows && path.startsWith("~\\")))
      return `${this.#options.home}${path.slice(1)}`;
    return path;
  }

  /** With `/` between folders; on Windows without `\\?\`, trailing dots and streams. */
  #spell(path: string): string {
    if (!this.#windows) {
      const single = path.includes("//") ? path.replaceAll(/\/+/g, "/") : path;
      return single.length > 1 && single.endsWith("/") ? single.slice(0, -1) : single;
    }
    const plain = path
      .replaceAll("/", "\\")
      .replace(/^\\\\[?.]\\UNC\\/i, "\\\\")
      .replace(/^\\\\[?.]\\(?=[A-Za-z]:)/, "");
    const drive = /^[A-Za-z]:/.exec(plain)?.[0] ?? "";
    const rest = plain
      .slice(drive.length)
      .split("\\")
      .map((part) => (/^\.+$/.test(part) ? part : part.replace(/:.*$/s, "").replace(/[. ]+$/, "")));
    const text = drive.toUpperCase() + rest.join("/");
    return text.length > drive.length + 1 ? text.replace(/\/$/, "") : text;
  }

  #oddness(path: string): string | undefined {
    if (path.includes("\0")) return "it has a null character in it";
    if (path === "") return "it is empty";
    if (!this.#windows) return undefined;
    if (/^[A-Za-z]:(?![\\/])/.test(path)) return "it starts at the working folder of a drive";
    if (/(?:^|[\\/])(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:[.:][^\\/]*)?$/i.test(path))
      return "it is a device";
    if (/^[\\/]{2}[.?][\\/](?!UNC[\\/]|[A-Za-z]:)/i.test(path)) return "it is a device";
    if (/~\d/.test(path)) return "it may be the short name of another file";
    return undefined;
  }

  /** The place of a path, by that of its folder where it is a plain one. */
  #placeOf(absolute: string): string {
    const slash = absolute.lastIndexOf("/");
    if (this.#windows || slash <= 0 || slash === absolute.length - 1 || /\/\.{0,2}(?:\/|$)/.test(absolute))
      return this.#resolve(absolute);
    return this.#plainPlace(absolute, MAX_FOLDERS);
  }

  /** The path as Linux itself resolves it, in one call; other systems spell it as it stands on disk. */
  #realPath(path: string): string | undefined {
    if (process.platform !== "linux" || this.#options.readLink !== undefined || this.#windows)
      return undefined;
    try {
      return realpathSync.native(path);
    } catch {
      // It is not there, or not for us to see: then as far as it can be followed.
      return undefined;
    }
  }

  /** Folder by folder: long lines name files of the same folders again and again. */
  #plainPlace(absolute: string, levels: number): string {
    const slash = absolute.lastIndexOf("/");
    const folder = absolute.slice(0, slash);
    const { folders, links } = this.#lookups;
    let place = slash === 0 ? "/" : folders.get(folder);
    if (place === undefined) {
      if (folder === this.cwd) place = this.place;
      else place = levels === 0 ? this.#resolve(folder) : this.#plainPlace(folder, levels - 1);
      folders.set(folder, place);
    }
    const top = place === "/" ? "" : place;
    const name = absolute.slice(slash + 1);
    return links.linkIn(top, name) === undefined ? `${top}/${name}` : this.#resolve(absolute);
  }

  /** Follows links part by part; `..` is taken after following. What is not there yet is kept as written. */
  #resolve(absolute: string): string {
    const system = this.#windows ? win32 : posix;
    const { root } = system.parse(absolute);
    const separator = this.#windows ? /[\\/]+/ : /\/+/;
    const split = (text: string): string[] =>
      text.split(separator).filter((part) => part !== "" && part !== ".");
    const pending = split(absolute.slice(root.length)).reverse();
    let current = root;
    const { links } = this.#lookups;
    let count = 0;
    for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
      if (part === "..") {
        current = system.join(current, "..");
        continue;
      }
      const next = this.#windows ? win32.join(current, part) : `${current === "/" ? "" : current}/${part}`;
      const target = count < MAX_LINKS ? links.linkAt(next) : undefined;
      if (target === undefined) {
        current = next;
        continue;
      }
      count++;
      const isAbsolute = system.isAbsolute(target);
      if (isAbsolute) current = system.parse(target).root;
      pending.push(...split(isAbsolute ? target.slice(system.parse(target).root.length) : target).reverse());
    }
    return current;
  }
}

/** The lookups, while the disk is taken to stay as it is: long lines name a place again and again. */
interface Lookups {
  readonly links: LinkReader;
  /** Places of folders. */
  readonly folders: Map<string, string>;
  /** Paths from the working folder. */
  readonly judged: Map<string, JudgedPath>;
  /** The space as seen from other folders. */
  readonly views: Map<string, PathSpace>;
  /** True when programs are of the workspace, and where they were looked for. */
  readonly programs: Map<string, boolean>;
  searched: readonly SearchedFolder[] | undefined;
}

function newLookups({ readLink }: PathSpaceOptions): Lookups {
  const source = readLink === undefined ? undefined : { look: readLink, list: () => undefined };
  return {
    links: new LinkReader(source),
    folders: new Map(),
    judged: new Map(),
    views: new Map(),
    programs: new Map(),
    searched: undefined,
  };
}

/** True when `path` is `folder` or below it; both resolved and written with `/`. */
export function isWithin(path: string, folder: string): boolean {
  if (!path.startsWith(folder)) return false;
  return path.length === folder.length || folder.endsWith("/") || path.charAt(folder.length) === "/";
}

/** Below any of these folders, writing makes something run later, or changes what nano-agent may do. */
export function isMachinery(path: string): boolean {
  if (OTHER_PLACE.test(path)) return false;
  const parts = fold(path.replaceAll(INVISIBLE, ""))
    .split("/")
    .map((part) => part.replace(/[. ]+$/, ""));
  if (parts.some((part, index) => part === "nano-agent" && parts[index - 1] === ".config")) return true;
  return parts.some(
    (part) =>
      part === ".git" || part === ".nano-agent" || part === "nano-agent.json" || /^git~\d$/.test(part),
  );
}

/** A path without the letters of any such name, nor any that could be folded to them. */
const OTHER_PLACE = /^(?:(?!git|nano-agent)[\0-\x7f])*$/i;
/** Characters that some file systems ignore in names. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

function prefixOf(folder: string): string {
  return folder.endsWith("/") ? folder : `${folder}/`;
}
