import { machineryOf } from "./machinery-words.ts";
import type { PathSpace } from "./paths/path-space.ts";
import { literalWord, type ShellWord } from "./shell/shell-command.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";
import { shown } from "./verdict.ts";

/** Why a command asks whatever a pattern covers: it names machinery that it may write to, or goes to a folder outside of the workspace. */
export function openPlace(unit: ShellUnit, space: PathSpace): string | undefined {
  const machinery = machineryOf(unit, space);
  if (machinery !== undefined)
    return `it may write to ${shown(machinery)}, which is part of a repository's or nano-agent's own machinery`;
  const folder = folderOf(unit);
  if (folder === undefined || isInside(folder, space)) return undefined;
  return `it works in ${shown(folder.text)}, which is not known to be in the workspace`;
}

/** Where `git -C` or `make -C` go; of several folders, all in one path. */
function folderOf({ name, words }: ShellUnit): ShellWord | undefined {
  if (name !== "git" && name !== "make" && name !== "gmake") return undefined;
  let folder: ShellWord | undefined;
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? literalWord("");
    if (word.text === "-C" || word.text === "--directory") {
      const next = words[++index] ?? literalWord("");
      folder = folder === undefined ? next : joined(folder, next);
    } else if (name !== "git" && /^(?:-C.|--directory=)/.test(word.text))
      folder = { ...word, text: word.text.replace(/^-C|^--directory=/, "") };
    // Behind the sub-command of git `-C` means something else.
    else if (name === "git" && !word.text.startsWith("-")) return folder;
  }
  return folder;
}

function joined(one: ShellWord, other: ShellWord): ShellWord {
  const text = /^[/~]/.test(other.text) ? other.text : `${one.text}/${other.text}`;
  return { ...other, text, literal: one.literal && other.literal, tilde: one.tilde || other.tilde };
}

function isInside({ text, literal, tilde }: ShellWord, space: PathSpace): boolean {
  if (!literal && !tilde) return false;
  return space.isInside(space.path(text.startsWith("~") && !tilde ? `./${text}` : text).resolved);
}
