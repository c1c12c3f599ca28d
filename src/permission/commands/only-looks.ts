import type { JudgedPath, PathSpace } from "../paths/path-space.ts";
import { isOneOf } from "./harmful-options.ts";
import { type LookingProgram, lookingProgram } from "./looking-programs.ts";
import { hasOwnGitSettings } from "./own-git-settings.ts";
import type { PlainWord } from "./plain-line.ts";

/** Where a command runs, and what it may look at there. */
export interface Surroundings {
  readonly space: PathSpace;
  /** True for a place that may be read without a question. */
  readonly mayRead: (path: JudgedPath) => boolean;
}

/** True when a simple command does nothing but look at places that may be read. */
export function onlyLooks(words: readonly PlainWord[], surroundings: Surroundings): boolean {
  const [name, ...rest] = words;
  if (name === undefined || name.isHome || surroundings.space.hasProgram(name.text)) return false;
  if (name.text === "git") return gitOnlyLooks(rest, surroundings);
  const program = lookingProgram(name.text);
  return program !== undefined && keeps(program, rest, surroundings);
}

function gitOnlyLooks(words: readonly PlainWord[], surroundings: Surroundings): boolean {
  const [sub, ...rest] = words[0]?.text === "--no-pager" ? words.slice(1) : words;
  const program = sub === undefined ? undefined : lookingProgram(`git ${sub.text}`);
  return (
    program !== undefined &&
    keeps(program, rest, surroundings) &&
    !hasOwnGitSettings(surroundings.space.place)
  );
}

/** True when the arguments leave a program at looking. */
function keeps(
  { name, takes, more }: LookingProgram,
  words: readonly PlainWord[],
  at: Surroundings,
): boolean {
  if (words.some((word) => isOneOf(word, more))) return false;
  const operands = words.filter(({ text }) => !/^-./.test(text));
  if (takes === "options" && operands.length > 0) return false;
  // The second operand of uniq is written, what date takes without a plus is the time to set.
  if (name === "uniq" && (operands.length > 1 || words.some(({ isGlob }) => isGlob))) return false;
  if (name === "date" && !operands.every(({ text }) => text.startsWith("+"))) return false;
  if (name === "sed") {
    const [flag, script, ...files] = words;
    if (flag?.text !== "-n" || !/^(?:\d+|\$)(?:,(?:\d+|\$))?p$/.test(script?.text ?? "")) return false;
    return files.every((word) => !word.text.startsWith("-") && isReadable(word, at));
  }
  return words.every((word) => (takes === "texts" && !word.isGlob) || isReadable(word, at));
}

/** True when whatever path a word may be is one that may be read. A pattern counts by the folder it is in. */
function isReadable(word: PlainWord, { space, mayRead }: Surroundings): boolean {
  return pathsOf(word).every(
    (path) => path === "" || path === "/dev/null" || (path !== undefined && mayRead(space.path(path))),
  );
}

/** The texts in a word that a program may take for a path; `undefined` for one that cannot be told. */
function pathsOf({ text, isGlob, isHome }: PlainWord): readonly (string | undefined)[] {
  const [literal = text] = isGlob ? text.split(/[*?[]/) : [];
  const rest = text.slice(literal.length);
  // `.*` is also `..`, and what follows a pattern may lead out of what it found.
  if (isGlob && (/(?:^|\/)\.+$/.test(literal) || /\.\./.test(rest) || /\/\.+[*?[]/.test(rest)))
    return [undefined];
  const path = isGlob ? literal.slice(0, literal.lastIndexOf("/") + 1) : text;
  if (isHome || !path.startsWith("~")) return [path, ...valuesOf(path)];
  return [`./${path}`];
}

/** The value attached to an option. */
function valuesOf(word: string): readonly string[] {
  if (!word.startsWith("-")) return [];
  return [word.slice(word.indexOf("=") + 1), word.replace(/^-+[\w-]*=?/, ""), word.slice(2)];
}
