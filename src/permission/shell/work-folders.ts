import type { ShellWord } from "./shell-command.ts";

/**
 * Folders a command may run in, as paths from where the line starts (`""` is that place); `undefined` when they cannot be told. More than
 * one where `cd` may have failed, or only one branch has it.
 */
export type WorkFolders = readonly string[] | undefined;

/** Where a line starts. */
export const START: readonly string[] = [""];

/** Where the shell may be behind a command: if that succeeded, and if it did not. */
export interface FoldersBehind {
  readonly yes: WorkFolders;
  readonly no: WorkFolders;
}

const MAX_FOLDERS = 16;

/** Either of two. */
export function anyOf(one: WorkFolders, other: WorkFolders): WorkFolders {
  if (one === other) return one;
  if (one === undefined || other === undefined) return undefined;
  const all = [...new Set([...one, ...other])];
  return all.length > MAX_FOLDERS ? undefined : all;
}

/** A path from one of these folders. */
export function pathFrom(folder: string, path: string): string {
  return folder === "" || /^(?:\/|~(?:\/|$))/.test(path) ? path : `${folder}/${path}`;
}

/** Paths from each of these folders. */
export function foldersFrom(outer: WorkFolders, inner: WorkFolders): WorkFolders {
  if (outer === START) return inner;
  if (inner === undefined || outer === undefined) return undefined;
  const all = new Set(outer.flatMap((folder) => inner.map((path) => pathFrom(folder, path))));
  return all.size > MAX_FOLDERS ? undefined : [...all];
}

/** Whether a text has a word in it that could change the folder of the shell. */
export function mayMove(text: string): boolean {
  return /\b(?:cd|pushd|popd|chdir)\b/.test(text);
}

/** Where the shell may be behind a simple command that ran in `folders`. */
export function foldersBehind(words: readonly ShellWord[], folders: WorkFolders): FoldersBehind {
  const name = words[0];
  if (name === undefined) return { yes: folders, no: folders };
  if (!name.literal) return UNKNOWN;
  switch (name.text) {
    case "cd":
    case "pushd":
      return { yes: moved(targetOf(words), folders), no: folders };
    case "popd":
    case "source":
    case ".":
      return UNKNOWN;
    case "builtin":
    case "command":
    case "eval":
    case "trap":
      return words.some(({ text }) => mayMove(text) || /\bsource\b|^\.$|\$/.test(text))
        ? UNKNOWN
        : { yes: folders, no: folders };
    default:
      return { yes: folders, no: folders };
  }
}

const UNKNOWN: FoldersBehind = { yes: undefined, no: undefined };

function moved(target: string | undefined, folders: WorkFolders): WorkFolders {
  return target === undefined ? undefined : folders?.map((folder) => pathFrom(folder, target));
}

/** The folder that `cd` or `pushd` names in plain letters. */
export function targetOf(words: readonly ShellWord[]): string | undefined {
  let at = 1;
  while (/^-(?:[LPe@]+|-)$/.test(words[at]?.text ?? "") && words[at - 1]?.text !== "--") at++;
  const target = words[at];
  if (target === undefined || words.length > at + 1 || /^(?:$|[-+])/.test(target.text)) return undefined;
  const isHome =
    target.tilde && /^~(?:$|\/)/.test(target.text) && target.names.length + target.substitutions.length === 0;
  if (isHome && !target.glob && !target.braces) return target.text;
  if (!target.literal) return undefined;
  return target.text.startsWith("~") ? `./${target.text}` : target.text;
}
