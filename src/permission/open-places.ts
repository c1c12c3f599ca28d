import { existsSync } from "node:fs";
import { machineryOf } from "./machinery-words.ts";
import type { PathSpace } from "./paths/path-space.ts";
import { type OptionTable, readOptions } from "./shell/option-reader.ts";
import { literalWord, type ShellWord } from "./shell/shell-command.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";
import { shown } from "./verdict.ts";

/** Why a command asks whatever a pattern covers: it names machinery that it may write to, or goes to a folder outside of the workspace. */
export function openPlace(unit: ShellUnit, space: PathSpace): string | undefined {
  const machinery = machineryOf(unit, space);
  if (machinery !== undefined)
    return `it may write to ${shown(machinery)}, which is part of a repository's or nano-agent's own machinery`;
  const pushed = pushTarget(unit);
  if (pushed !== undefined && isOnThisMachine(pushed, space))
    return `it pushes to ${shown(pushed.text)}, a repository on this machine whose hooks would run`;
  const folder = folderOf(unit);
  if (folder === undefined || isInside(folder, space)) return undefined;
  return `it works in ${shown(folder.text)}, which is not known to be in the workspace`;
}

const PUSH: OptionTable = {
  short: "46nqvfdu",
  valued: "o",
  long: "repo= push-option= receive-pack= exec= recurse-submodules=",
};

/** The repository that `git push` names. */
function pushTarget({ name, words }: ShellUnit): ShellWord | undefined {
  const from = name === "git" ? words.findIndex(({ text }) => text === "push") : -1;
  if (from === -1) return undefined;
  const { options, operands } = readOptions(words, PUSH, { from: from + 1 });
  return words[operands[0] ?? words.length] ?? options.find((option) => option.name === "--repo")?.value;
}

/** Whether git could take a word for the path of a repository, whose hooks no setting of ours would reach. */
function isOnThisMachine({ text, literal }: ShellWord, space: PathSpace): boolean {
  if (!literal || /^(?:[./~]|file:)/i.test(text)) return true;
  if (/^[^/]*:/.test(text)) return false;
  return [text, `${text}.git`].some((path) => existsSync(space.path(path).resolved));
}

/** Options that name the folder to work in, by program: as a word of their own, and with the folder behind them. */
const FOLDER_OPTIONS: ReadonlyMap<string, readonly [alone: RegExp, attached: RegExp]> = new Map(
  Object.entries({
    "make gmake": [/^(?:-C|--directory)$/, /^(?:-C|--directory=)(?=.)/],
    "npm pnpm yarn bun": [/^(?:-C|--pref[ix]*|--dir|--cwd)$/, /^(?:-C|--(?:pref[ix]*|dir|cwd)=)(?=.)/],
    cargo: [/^(?:-C|--manifest-path)$/, /^(?:-C|--manifest-path=)(?=.)/],
  } as const).flatMap(([names, options]) => names.split(" ").map((name) => [name, options] as const)),
);

/** Where `git -C`, `make -C` or `npm --prefix` go; of several folders of git, all in one path. */
function folderOf({ name, words }: ShellUnit): ShellWord | undefined {
  if (name === "git") return gitFolderOf(words);
  const [alone, attached] = FOLDER_OPTIONS.get(name) ?? [];
  if (alone === undefined || attached === undefined) return undefined;
  let folder: ShellWord | undefined;
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? literalWord("");
    if (word.text === "--") return folder;
    if (alone.test(word.text)) folder = words[++index] ?? literalWord("");
    else if (attached.test(word.text)) folder = { ...word, text: word.text.replace(attached, "") };
  }
  return folder;
}

function gitFolderOf(words: readonly ShellWord[]): ShellWord | undefined {
  let folder: ShellWord | undefined;
  for (let index = 1; index < words.length; index++) {
    const word = words[index] ?? literalWord("");
    if (word.text === "-C") {
      const next = words[++index] ?? literalWord("");
      folder = folder === undefined ? next : joined(folder, next);
    }
    // Behind the sub-command `-C` means something else.
    else if (!word.text.startsWith("-")) return folder;
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
