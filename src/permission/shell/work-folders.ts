import type { ShellWord, SimpleCommand, WorkFolders } from "./shell-command.ts";

/** Where a line starts. */
export const START: readonly string[] = [""];

/** Where the shell may be behind a command: if that succeeded, and if it did not. */
interface FoldersBehind {
  readonly yes: WorkFolders;
  readonly no: WorkFolders;
}

const MAX_FOLDERS = 16;
/** Variables that say where `cd` leads. */
const LEADS_CD = /^(?:CDPATH|HOME|PWD|OLDPWD)$/;

/** Either of two. */
function anyOf(one: WorkFolders, other: WorkFolders): WorkFolders {
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

/** True when a text has a word in it that could change the folder of the shell. */
function mayMove(text: string): boolean {
  return /\b(?:cd|pushd|popd|chdir)\b/.test(text);
}

/** Where the shell may be behind a simple command that ran in `folders`. */
function foldersBehind(words: readonly ShellWord[], folders: WorkFolders): FoldersBehind {
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
  if (target.literal) return target.text.startsWith("~") ? `./${target.text}` : target.text;
  return isHome(target) ? target.text : undefined;
}

function isHome({ text, tilde, glob, braces, names, substitutions }: ShellWord): boolean {
  return tilde && /^~(?:$|\/)/.test(text) && !glob && !braces && names.length + substitutions.length === 0;
}

/** Follows the folder of the shell through a line. */
export class FolderWalk {
  /** Where the next command may run. */
  folders: WorkFolders = START;
  /** The folders behind the last simple command. */
  #last: FoldersBehind | undefined;

  command({ words, assignments }: SimpleCommand): void {
    const isLed = assignments.some(({ assigns = "" }) => LEADS_CD.test(assigns));
    this.#last = foldersBehind(words, isLed ? undefined : this.folders);
    this.folders = anyOf(this.#last.yes, this.#last.no);
  }

  /** A part that runs in a shell of its own changes no folder for those behind it. */
  apart(run: () => void): void {
    const [folders, last] = [this.folders, this.#last];
    run();
    [this.folders, this.#last] = [folders, last];
  }

  /** Behind `&&` a command runs where the success of the one before leads, behind `||` where failure does. */
  chain<Node extends { readonly type: string }>(
    nodes: readonly Node[],
    operators: readonly string[],
    run: (node: Node) => void,
  ): void {
    let { yes, no }: FoldersBehind = { yes: this.folders, no: this.folders };
    for (const [index, node] of nodes.entries()) {
      const isElse = operators[index - 1] === "||";
      this.folders = isElse ? no : yes;
      this.#last = undefined;
      run(node);
      const behind = (node.type === "Command" ? this.#last : undefined) ?? {
        yes: this.folders,
        no: this.folders,
      };
      yes = isElse ? anyOf(yes, behind.yes) : behind.yes;
      no = isElse || index === 0 ? behind.no : anyOf(no, behind.no);
    }
    this.folders = anyOf(yes, no);
  }

  /** Any of these may run, after any other or not at all. */
  branches(branches: readonly (() => void)[]): void {
    for (const branch of branches) {
      const before = this.folders;
      branch();
      this.folders = anyOf(before, this.folders);
    }
  }

  /** A part that runs again and again may begin in another folder each time. */
  again(text: string): void {
    if (mayMove(text)) this.folders = undefined;
  }
}
