import type { ShellWord, WorkFolders } from "./shell-command.ts";

/** Characters of a command's text that only literal characters of an allow rule cover. */
export interface TextGuard {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  /** The guarded words, where they are arguments: the first, and one behind the last. */
  readonly words?: readonly [from: number, to: number];
  /** The commands that the guarded words run: nothing is left to guard when all of them are allowed. */
  readonly program?: readonly ShellUnit[];
}

/** One command that a line runs, as rules see it. */
export interface ShellUnit {
  /** Its words after quote removal joined by one blank, assignments in front. */
  readonly text: string;
  /** The program, without its folder. */
  readonly name: string;
  readonly words: readonly ShellWord[];
  readonly guards: readonly TextGuard[];
  /** Why no pattern covers it: it runs something nobody can see. A rule for the whole tool does. */
  readonly unseen: string | undefined;
  /** Why no rule covers it at all. */
  readonly blocked: string | undefined;
  /** False: only deny and ask rules look at it, because it may never run like this. */
  readonly judged: boolean;
  /** Where it may run. */
  readonly folders: WorkFolders;
  /** Other spellings of it, for deny and ask rules. */
  readonly aliases: readonly string[];
  /** Its name is a pattern of file names. */
  readonly globName: string | undefined;
  /** It runs in a folder that is not known here: only a rule covers it. */
  readonly elsewhere?: boolean;
}

/** Words of a command that the `*` of an allow rule does not cover. */
export interface WordGuard {
  /** Index of the first word, and one behind the last. */
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  /** The program these words run: where a rule of its own allows it, nothing is left to guard. */
  readonly program?: readonly ShellWord[];
  /** That program runs in folders that are not known here. */
  readonly elsewhere?: boolean;
}

/** A command without the words that run programs judged by themselves; `guards` are those that remain. */
export function withoutPrograms(unit: ShellUnit, guards: readonly TextGuard[]): ShellUnit {
  if (guards.length === unit.guards.length) return unit;
  const left = new Set(guards);
  const gone = unit.guards
    .filter((guard) => !left.has(guard))
    .flatMap(({ words }) => (words === undefined ? [] : [words]));
  if (gone.length === 0) return { ...unit, guards };
  const isGone = new Uint8Array(unit.words.length);
  for (const [from, to] of gone) isGone.fill(1, from, to);
  const words = unit.words.filter((_, index) => isGone[index] === 0);
  return { ...unit, words, guards };
}
