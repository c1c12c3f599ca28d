import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, sep } from "node:path";
import type { GitSetting, ReadText } from "./git-settings.ts";

/** Where a repository's files are, links followed: a bare one itself. `undefined`: a pointer is not plain. */
export function gitFolder(tree: string, read: ReadText): string | undefined {
  const path = `${tree}/.git`;
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return tree;
  return stats.isDirectory() ? placeOf(path) : pointed(read(path), "gitdir: ", tree);
}

/** Where the settings of a repository are, which several work trees may share. */
export function commonFolder(own: string, read: ReadText): string | undefined {
  const path = `${own}/commondir`;
  return statSync(path, { throwIfNoEntry: false }) === undefined ? own : pointed(read(path), "", own);
}

/** The folder that a one-line text in `folder` names. Blanks belong to it, line ends behind it do not. */
function pointed(line: string | undefined, begin: string, folder: string): string | undefined {
  const text = line?.replace(/[\r\n]+$/, "");
  if (text?.startsWith(begin) !== true || /[\p{Cc}\uFFFD]/u.test(text)) return undefined;
  const place = pathFrom(folder, text.slice(begin.length));
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true ? place : undefined;
}

/** A path from a folder, unnormalized: for the system `..` starts where a link leads, unlike `join`. */
export function pathFrom(folder: string, path: string): string {
  return isAbsolute(path) ? path : `${folder}/${path}`;
}

/** Where a path leads to; `undefined` where nothing is. */
export function placeOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // A link to nothing, or to what may not be looked at: git finds nothing there either.
    return undefined;
  }
}

/** True when a path, links followed, lies in one of these folders. */
export function liesIn(path: string, folders: readonly string[]): boolean {
  const place = placeOf(path);
  return place !== undefined && folders.some((each) => `${place}/`.startsWith(`${placeOf(each)}${sep}`));
}

/**
 * True when a repository lies with its work tree or claims it: who leads git elsewhere cannot write there.
 */
export function belongsTo(
  tree: string,
  { own, root, settings }: { own: string; root: string; settings: readonly GitSetting[] },
  read: ReadText,
): boolean {
  const git = `${tree}/.git`;
  if (own === tree || own === git || liesIn(own, [root])) return true;
  const back = read(`${own}/gitdir`)?.trimEnd();
  if (back !== undefined && placeOf(pathFrom(own, back)) === placeOf(git)) return true;
  const said = settings.find(({ key }) => key === "core.worktree");
  return said !== undefined && placeOf(pathFrom(own, said.value)) === placeOf(tree);
}

/** The entries of a folder that are looked at further. */
export interface GitEntries {
  readonly links: readonly string[];
  /** Folders, as paths from that of git on. */
  readonly folders: readonly string[];
  /** True when it names places of objects elsewhere. */
  readonly hasAlternates: boolean;
}

/** Where a folder of objects names others. */
export const ALTERNATES = "objects/info/alternates";
/** Folders whose files git shows, whole or where it cannot read them. */
const SHOWN =
  /^(?:info|objects(?:\/info)?|remotes|branches|rebase-(?:merge|apply)|sequencer|worktrees(?:\/[^/]+)?)$/;

/** The entries of a folder of git, which is called `name` there. */
export function entriesIn(path: string, name: string): GitEntries {
  const entries = readdirSync(path, { withFileTypes: true });
  const inner = (entry: Dirent): string => (name === "" ? entry.name : `${name}/${entry.name}`);
  return {
    // No hook runs for a covered command.
    links: entries.flatMap((each) => (each.isSymbolicLink() && inner(each) !== "hooks" ? [each.name] : [])),
    folders: entries.flatMap((each) => (each.isDirectory() && SHOWN.test(inner(each)) ? [inner(each)] : [])),
    hasAlternates: entries.some((each) => inner(each) === ALTERNATES),
  };
}
