import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Keys that git itself writes, by section: harmless whatever their origin. */
const KEYS: ReadonlyMap<string, RegExp> = new Map([
  [
    "core",
    /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|hidedotfiles|sparsecheckout|sparsecheckoutcone)$/,
  ],
  ["extensions", /^(?:objectformat|compatobjectformat|refstorage|partialclone|worktreeconfig|noop)$/],
  ["user", /^(?:name|email)$/],
  ["branch", /^(?:remote|pushremote|merge|rebase|description)$/],
  ["remote", /^(?:url|pushurl|fetch|push|tagopt|mirror|promisor|partialclonefilter)$/],
  ["submodule", /^(?:url|active)$/],
]);

const NAMED = new Set(["branch", "remote", "submodule"]);

const HEADER = /^\[([a-z]+)( "[^"\\\p{Cc}]*")?\]$/u;

/** The lines of a `config` that git does not write, each with its section. Continued lines count as one. */
export function linesNotWrittenByGit(config: string): readonly string[] {
  let section = "";
  return config.split(/(?<!\\\r?)\n/).flatMap((line) => {
    if (line === "") return [];
    if (!line.trimStart().startsWith("["))
      return isKnownSetting(section, line) ? [] : [`${section} ${line.trim()}`];
    const [, name = "", subsection] = HEADER.exec(line) ?? [];
    section = name === "" ? line.trim() : name + (subsection ?? "");
    return KEYS.has(name) && NAMED.has(name) === (subsection !== undefined) ? [] : [line];
  });
}

const SETTING = /^\t([A-Za-z][A-Za-z-]*) = ([^\s"'\\;#\p{Cc}](?:[^"\\;#\p{Cc}]*[^\s"\\;#\p{Cc}])?)$/u;

/** An address must not name a program as its transport (`ext::sh -c …`) or pass for an option. */
function isKnownSetting(section: string, line: string): boolean {
  const [, key = "", value = ""] = SETTING.exec(line) ?? [];
  const isKnown = KEYS.get(section.split(" ")[0] ?? "")?.test(key.toLowerCase()) === true;
  return isKnown && !value.includes("::") && !value.startsWith("-");
}

/** True if each line of a `config` is one git itself writes, or was in the same section `before`. */
export function isWrittenByGit(config: string, before = ""): boolean {
  const known = new Set(linesNotWrittenByGit(before));
  return linesNotWrittenByGit(config).every((line) => known.has(line));
}

/** The folder that the `.git` file of a worktree or submodule points to, and that of the repository. */
export function readGitPointer(path: string): { readonly own: string; readonly common: string } | undefined {
  const own = readPointer(path, /^gitdir: (.+)$/m);
  return own === undefined ? undefined : { own, common: commonOf(own) };
}

function commonOf(own: string): string {
  return readPointer(join(own, "commondir"), /^(.+)$/m) ?? own;
}

/** True if git would find settings it did not write, here or in any folder above. */
export function hasOwnGitSettings(folder: string): boolean {
  const git = join(folder, ".git");
  const { own, common } = readGitPointer(git) ?? { own: git, common: commonOf(git) };
  // The folder itself may be a bare repository.
  const bare = existsSync(join(folder, "HEAD")) ? [folder] : [];
  const files = [own, common, ...bare].flatMap((each) => [
    join(each, "config"),
    join(each, "config.worktree"),
  ]);
  const isOwn = (path: string): boolean =>
    existsSync(path) && !isWrittenByGit(readSmallText(path) ?? "unreadable");
  const above = dirname(folder);
  return files.some(isOwn) || (above !== folder && hasOwnGitSettings(above));
}

function readPointer(path: string, form: RegExp): string | undefined {
  const target = form.exec(readSmallText(path) ?? "")?.[1];
  return target === undefined ? undefined : resolve(path, "..", target.trim());
}

/** Pointers are one line; a `config` of this size was not written by git alone. */
const MAX_SIZE = 256 * 1024;

export function readSmallText(path: string): string | undefined {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAX_SIZE) return undefined;
    const content = readFileSync(path);
    // Kernel files do not report their size.
    return content.length === stats.size ? content.toString() : undefined;
  } catch {
    // Missing or unreadable.
    return undefined;
  }
}
