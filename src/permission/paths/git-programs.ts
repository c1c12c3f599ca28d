import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";

/** What a repository's own settings have git run, by what has to be done for it. */
export interface GitPrograms {
  /** Settings, as `filter.x.clean=cat`, that count for whoever only looks. */
  readonly looking: readonly string[];
  /** What differences are shown with, where git is not told to show them without. */
  readonly drivers: readonly string[];
  /** The others: they count for commands that change something or speak with others. */
  readonly others: readonly string[];
}

const MAX_BYTES = 1_000_000;
/** Submodules that are looked at, and how deep their names may go. */
const MAX_MODULES = 200;
const MAX_DEPTH = 6;

/** A setting in a file, with its section; small letters but for names and values. */
export interface GitSetting {
  readonly key: string;
  readonly value: string;
}

/** Settings that run a program, bring more settings or move the work tree, for whoever looks. */
const LOOKING =
  /^(?:filter\..*\.(?:clean|smudge|process)|core\.worktree|core\.alternaterefscommand|include\.path|includeif\..*\.path|trailer\..*\.(?:command|cmd))$/s;
const DRIVERS = /^diff\.(?:external|.*\.(?:textconv|command))$/s;
/** The same for everybody else. Hooks, pagers and file watchers never run for a covered command. */
const OTHERS =
  /^(?:alias\..*|merge\..*\.driver|core\.(?:sshcommand|gitproxy|askpass|editor)|sequence\.editor|credential\.(?:.*\.)?helper|gpg\.(?:.*\.)?program|remote\..*\.(?:uploadpack|receivepack|vcs)|interactive\.difffilter|uploadpack\.packobjectshook|(?:difftool|mergetool|browser|man|guitool)\..*\.cmd|submodule\..*\.update|protocol\..*)$/s;
/** A clone without all its objects: whoever looks at one that is missing fetches it, with the programs for that. */
const PARTIAL = /^(?:remote\..*\.(?:promisor|partialclonefilter)|extensions\.partialclone)$/s;
/** What git-lfs writes of itself, which runs nothing of the repository. */
const LFS =
  /^filter\.lfs\.(?:clean=git-lfs clean -- %f|smudge=git-lfs smudge(?: --skip)? -- %f|process=git-lfs filter-process(?: --skip)?)$/;

/**
 * The programs that git would run because the settings in a repository say so: those of its own files, not those of the user. `undefined`
 * where there are none. What cannot be read counts as a program.
 */
export function gitPrograms(
  repository: string,
  read: (path: string) => readonly GitSetting[] = settingsIn,
): GitPrograms | undefined {
  const settings = settingsFiles(repository).flatMap((file) =>
    read(file).filter((each) => !LFS.test(shown(each)) && !isOwnWorkTree(each, dirname(file), repository)),
  );
  const of = (keys: RegExp): readonly string[] =>
    settings.filter(({ key }) => keys.test(key) || key === UNREADABLE).map(shown);
  const looking = of(LOOKING);
  const drivers = of(DRIVERS).filter((each) => !looking.includes(each));
  const others = of(OTHERS).filter((each) => !looking.includes(each));
  const count = looking.length + drivers.length + others.length;
  if (count === 0) return undefined;
  const isPartial = settings.some(({ key }) => PARTIAL.test(key));
  return isPartial ? { looking: [...looking, ...others], drivers, others: [] } : { looking, drivers, others };
}

/** The settings of a repository, of its work tree and of its submodules. */
function settingsFiles(repository: string): readonly string[] {
  const own = gitFolder(repository);
  const pointer = textOf(join(own, "commondir"))?.trim();
  const common = pointer === undefined || pointer === "" ? own : resolve(own, pointer);
  return [join(common, "config"), join(own, "config.worktree"), ...moduleSettings(join(common, "modules"))];
}

/** A submodule says where its files are, which is nothing new as long as they are in the repository. */
function isOwnWorkTree({ key, value }: GitSetting, folder: string, repository: string): boolean {
  // Git reads quotes, escapes and comments in a value.
  if (key !== "core.worktree" || /["\\#;]/.test(value)) return false;
  try {
    const [place, own] = [realpathSync(resolve(folder, value)), realpathSync(repository)];
    return place === own || place.startsWith(own + sep);
  } catch {
    // It is not there: git would not find it either.
    return false;
  }
}

function gitFolder(repository: string): string {
  const path = join(repository, ".git");
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return repository;
  if (stats.isDirectory()) return path;
  const to = /^gitdir: (.*?)\s*$/s.exec(textOf(path) ?? "")?.[1];
  return to === undefined ? path : resolve(dirname(path), to);
}

/** A submodule's name may have slashes, and submodules of its own. */
function moduleSettings(folder: string): readonly string[] {
  const found: string[] = [];
  const walk = (path: string, depth: number): void => {
    for (const name of foldersIn(path)) {
      if (found.length >= MAX_MODULES) return;
      const inner = join(path, name);
      if (statSync(join(inner, "HEAD"), { throwIfNoEntry: false }) !== undefined) {
        found.push(join(inner, "config"));
        walk(join(inner, "modules"), depth + 1);
      } else if (depth < MAX_DEPTH) walk(inner, depth + 1);
    }
  };
  walk(folder, 0);
  return found;
}

function foldersIn(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() || entry.isSymbolicLink() ? [entry.name] : [],
    );
  } catch {
    // There are none, or git cannot read them either.
    return [];
  }
}

function textOf(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.size <= MAX_BYTES ? readFileSync(path, "utf8") : undefined;
  } catch {
    // Git reads no more than we can.
    return undefined;
  }
}

/** Reads files of settings again where they have changed. */
export class SettingsReader {
  readonly #known = new Map<string, { readonly stamp: string; readonly settings: readonly GitSetting[] }>();

  /** {@link settingsIn} */
  readonly read = (path: string): readonly GitSetting[] => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return [];
    const stamp = `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
    const known = this.#known.get(path);
    if (known?.stamp === stamp) return known.settings;
    const settings = settingsIn(path);
    this.#known.set(path, { stamp, settings });
    return settings;
  };
}

/** The key of a line that cannot be read. Every other key has a dot. */
const UNREADABLE = "a line that cannot be read";

function shown({ key, value }: GitSetting): string {
  return key === UNREADABLE ? `${key}: ${value}` : `${key}=${value}`;
}

/** The settings of a file. A line that is not of the plain form is one that cannot be read. */
export function settingsIn(path: string): readonly GitSetting[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  const text = textOf(path);
  if (text === undefined) return [{ key: UNREADABLE, value: path }];
  let section: string | undefined;
  const settings: GitSetting[] = [];
  for (const line of text.replace(/^\uFEFF/, "").split("\n")) {
    const [, headers = "", rest = ""] =
      /^((?:\s*\[[^\]"]*(?:"(?:[^"\\]|\\.)*"\s*)?\])*)(.*)$/s.exec(line) ?? [];
    const last = headers.match(HEADER)?.at(-1);
    if (last !== undefined) section = sectionOf(last);
    const plain = rest.trim();
    if (plain.startsWith("[")) section ??= UNREADABLE;
    // What stands before the first section has no name that means anything to git.
    if (plain !== "" && !/^[#;]/.test(plain) && section !== undefined)
      settings.push(settingOf(section, plain));
  }
  return settings;
}

function settingOf(section: string, line: string): GitSetting {
  const [, key, value = "true"] = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/s.exec(line) ?? [];
  // A value that goes on in the next line would hide what stands there.
  const isPlain = key !== undefined && section !== UNREADABLE && !line.endsWith("\\");
  return isPlain ? { key: `${section}.${key.toLowerCase()}`, value } : { key: UNREADABLE, value: line };
}

const HEADER = /\[[^\]"]*(?:"(?:[^"\\]|\\.)*"\s*)?\]/g;

/** `[a "B"]` is `a.B`, `[a.B]` is `a.b`. */
function sectionOf(header: string): string {
  const [, name = "", sub] = /^\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]$/s.exec(header) ?? [];
  if (name === "") return UNREADABLE;
  return sub === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${sub.replaceAll(/\\(.)/gs, "$1")}`;
}
