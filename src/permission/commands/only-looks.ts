import { hasOwnGitSettings } from "../paths/git-settings.ts";
import type { PathSpace } from "../paths/path-space.ts";
import type { RuleSet } from "../rule-set.ts";
import { isOneOf } from "./harmful-options.ts";
import { type LookingProgram, lookingProgram } from "./looking-programs.ts";
import type { PlainWord } from "./plain-line.ts";

/** Where a command runs, and the rules about what it may look at there. */
export interface Surroundings {
  readonly space: PathSpace;
  readonly rules: RuleSet;
}

/** True when a simple command does nothing but look at places that may be read. */
export function onlyLooks(words: readonly PlainWord[], surroundings: Surroundings): boolean {
  const { space } = surroundings;
  const [name, ...rest] = words.filter(({ text }, index) => index !== 1 || text !== "--no-pager");
  if (name === undefined || name.isHome || space.hasProgram(name.text)) return false;
  const isGit = name.text === "git";
  const program = lookingProgram(isGit ? `git ${rest[0]?.text}` : name.text);
  if (program === undefined || !keeps(program, isGit ? rest.slice(1) : rest, surroundings)) return false;
  return !isGit || !hasOwnGitSettings(space.place);
}

/** True when the arguments leave a program at looking. */
function keeps(
  { name, takes, more }: LookingProgram,
  words: readonly PlainWord[],
  at: Surroundings,
): boolean {
  if (words.some((word) => isOneOf(word, more))) return false;
  const end = words.findIndex(({ text }) => text === "--");
  const operands = words.filter(({ text }, index) => !/^-./.test(text) || (end !== -1 && index > end));
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
function isReadable(word: PlainWord, at: Surroundings): boolean {
  return pathsOf(word).every((path) => path === "" || path === "/dev/null" || mayRead(path, at));
}

function mayRead(text: string, { space, rules }: Surroundings): boolean {
  const path = space.path(text);
  if (path.odd !== undefined || !space.isInside(path.resolved)) return false;
  return (["deny", "ask"] as const).every(
    (action) => rules.againstPath(action, "read", { path, space }) === undefined,
  );
}

/** The texts in a word that a program may take for a path; the root for one that cannot be told. */
function pathsOf({ text, isGlob, isHome }: PlainWord): readonly string[] {
  const [literal = text] = isGlob ? text.split(/[*?[]/) : [];
  // `.*` is also `..`, and what follows a pattern may lead out of what it found.
  if (isGlob && (/(?:^|\/)\.+$/.test(literal) || /\.\.|\/\.+[*?[]/.test(text.slice(literal.length))))
    return ["/"];
  const path = isGlob ? literal.slice(0, literal.lastIndexOf("/") + 1) : text;
  if (path.startsWith("~") && !isHome) return [`./${path}`];
  // The value attached to an option.
  const isOption = path.startsWith("-");
  return isOption
    ? [path, path.replace(/^.*?=/, ""), path.replace(/^-+[\w-]*=?/, ""), path.slice(2)]
    : [path];
}
