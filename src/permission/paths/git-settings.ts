import { closeSync, constants, openSync, readFileSync, readSync, statSync } from "node:fs";
import { resolve } from "node:path";

/** A setting in a file, with its section; small letters but for names and values. */
export interface GitSetting {
  readonly key: string;
  readonly value: string;
}

/** The key of what cannot be read. Every other key has a dot. */
const UNREADABLE = "what cannot be read";

/** A setting for a file or a line that git may read and we do not: `what` says which. */
export function unreadable(what: string): GitSetting {
  return { key: UNREADABLE, value: what };
}

/** A setting for people. */
export function shownSetting({ key, value }: GitSetting): string {
  return key === UNREADABLE ? `${key}: ${value}` : `${key}=${value}`;
}

const MAX_BYTES = 1_000_000;

/** Reads a small file, or remembers it: see {@link textOf}. */
export type ReadText = (path: string) => string | undefined;

/** The text of a small regular file; `undefined` where there is none, or none that can be read. */
export function textOf(path: string): string | undefined {
  return bytesOf(path, MAX_BYTES)?.toString("utf8");
}

/** The bytes of a regular file that has at most so many; `undefined` as for {@link textOf}. */
export function bytesOf(path: string, most: number): Buffer | undefined {
  try {
    const stats = statSync(path);
    // Whoever opens a pipe waits for somebody to write.
    if (!stats.isFile() || stats.size > most) return undefined;
    return stats.size > 0 || isEmpty(path) ? readFileSync(path) : undefined;
  } catch {
    // The caller takes it for one that git may read.
    return undefined;
  }
}

/** False for a file of the system that only says so: it may have no end, or wait for something to happen. */
function isEmpty(path: string): boolean {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return readSync(file, Buffer.alloc(1)) === 0;
  } finally {
    closeSync(file);
  }
}

/** The lines of a file in which git keeps what it has yet to do, as settings of this name. */
export function stateIn(path: string, key: string): readonly GitSetting[] {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return [];
  const lines = textOf(path)?.split("\n");
  return lines?.flatMap((value) => (value.trim() === "" ? [] : [{ key, value }])) ?? [unreadable(path)];
}

/** The settings of a file. A line that is not of the plain form is one that cannot be read. */
export function settingsIn(path: string): readonly GitSetting[] {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return [];
  const text = textOf(path);
  if (text === undefined) return [unreadable(path)];
  let section: string | undefined;
  const settings: GitSetting[] = [];
  for (const line of text.replace(/^\uFEFF/, "").split("\n")) {
    const [, headers = "", rest = ""] =
      /^((?:\s*\[[^\]"]*(?:"(?:[^"\\]|\\.)*"\s*)?\])*)(.*)$/s.exec(line) ?? [];
    const last = headers.match(HEADER)?.at(-1);
    if (last !== undefined) section = sectionOf(last);
    const plain = rest.trim();
    if (plain.startsWith("[")) section ??= UNREADABLE;
    // A line before the first section has no name that means anything to git.
    if (plain !== "" && !/^[#;]/.test(plain) && section !== undefined)
      settings.push(settingOf(section, plain));
  }
  return settings;
}

/** The files with a user's own settings, in their home and of the system. */
const OF_USER = (home: string): readonly string[] => [
  `${home}/.gitconfig`,
  `${home}/.config/git/config`,
  "/etc/gitconfig",
];

/** The settings of files and of those that they include, whatever the condition; each file once. */
function settingsFrom(files: readonly string[], home: string): readonly GitSetting[] {
  const paths = new Set(files);
  const settings: GitSetting[] = [];
  // A set that grows is gone through to its end.
  for (const path of paths)
    for (const setting of settingsIn(path)) {
      settings.push(setting);
      if (!/^include(?:if\..*)?\.path$/s.test(setting.key)) continue;
      const named = setting.value.replaceAll('"', "").replace(/^~(?=\/)/, home);
      // Behind a # or ; git sees a comment, unless it is quoted.
      for (const each of [named, named.replace(/\s*[#;].*$/s, "")]) paths.add(resolve(path, "..", each));
    }
  return settings;
}

/** The words of the filters in a user's own settings, each of which may be a program. */
export function userFilterWords(home: string): readonly string[] {
  return settingsFrom(OF_USER(home), home)
    .filter(({ key }) => key === UNREADABLE || key.startsWith("filter."))
    .flatMap(({ key, value }) => {
      // A value that goes on in the next line makes a name of what stands there.
      const name = key.slice(key.lastIndexOf(".") + 1).replace(/^(?:clean|smudge|process|required)$/, "");
      return `${name} ${value}`.match(/[\w.+-]+/g) ?? [];
    });
}

function settingOf(section: string, line: string): GitSetting {
  const [, key, value = "true"] = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/s.exec(line) ?? [];
  // A value that goes on in the next line would hide what stands there.
  const isPlain = key !== undefined && section !== UNREADABLE && !line.endsWith("\\");
  return isPlain ? { key: `${section}.${key.toLowerCase()}`, value } : unreadable(line);
}

const HEADER = /\[[^\]"]*(?:"(?:[^"\\]|\\.)*"\s*)?\]/g;

/** `[a "B"]` is `a.B`, `[a.B]` is `a.b`. */
function sectionOf(header: string): string {
  const [, name = "", sub] = /^\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)"\s*)?\]$/s.exec(header) ?? [];
  if (name === "") return UNREADABLE;
  return sub === undefined ? name.toLowerCase() : `${name.toLowerCase()}.${sub.replaceAll(/\\(.)/gs, "$1")}`;
}
