import { wordSet } from "../match-text.ts";
import type { PathSpace } from "../paths/path-space.ts";
import type { Joiner, PlainCommand } from "./plain-line.ts";

/** The folders in which a command of a line may run, each with the paths as seen from it. */
export interface Folders {
  /** For the next command. */
  readonly now: readonly PathSpace[];
  /** For any command so far: where the line may be when a `cd` failed or was skipped. */
  readonly ever: readonly PathSpace[];
}

/** More folders are not followed. */
const MAX_FOLDERS = 8;
/** Built-in commands that may change the folder, the programs found or the shell itself. */
const CHANGES_SHELL = wordSet(`
  . alias builtin cd command declare enable eval exec export getopts hash let local mapfile popd printf pushd
  read readarray readonly set shopt source trap typeset unalias unset`);

/** The folders after a command; `undefined` when nobody can tell. `next`: the operator behind it. */
export function afterCommand(
  folders: Folders | undefined,
  command: PlainCommand,
  { next, onlyLooked }: { readonly next: Joiner | undefined; readonly onlyLooked: boolean },
): Folders | undefined {
  if (folders === undefined) return undefined;
  const isInPipe = command.joiner === "|" || next === "|";
  const target = folderOf(command);
  const name = command.words[0].text;
  if (target === undefined && !onlyLooked && CHANGES_SHELL.has(name)) return undefined;
  // In a pipeline it runs in a shell of its own.
  if (target === undefined || isInPipe)
    return next === ";" || next === "||" ? { ...folders, now: folders.ever } : folders;
  const moved: PathSpace[] = [];
  for (const space of folders.now) {
    const place = plainFolder(space, target);
    if (place === undefined) return undefined;
    moved.push(space.from(place));
  }
  const ever = [...folders.ever, ...moved];
  if (ever.length > MAX_FOLDERS) return undefined;
  return { now: next === "&&" && command.joiner !== "||" ? moved : ever, ever };
}

/** True for a `cd` into a folder of the workspace, wherever the line is then. */
export function staysInside(command: PlainCommand, { now }: Folders): boolean {
  const target = folderOf(command);
  return (
    target !== undefined &&
    now.every((space) => {
      const place = plainFolder(space, target);
      return place !== undefined && space.isInside(place);
    })
  );
}

/** The literal folder that a `cd` names. */
function folderOf({ words: [name, target, ...more] }: PlainCommand): string | undefined {
  if (name.text !== "cd" || target === undefined || more.length > 0) return undefined;
  const { text, isGlob, isHome } = target;
  if (isGlob || text === "" || text.startsWith("-")) return undefined;
  return isHome || !text.startsWith("~") ? text : `./${text}`;
}

/** Where a folder is, unless a link leads there: then the shell and programs differ about its `..`. */
function plainFolder(space: PathSpace, folder: string): string | undefined {
  const { written, resolved, odd } = space.from(space.place).path(folder);
  return odd === undefined && written[0] === resolved ? resolved : undefined;
}
