import type { Command, Word, WordPart } from "unbash";
import { wordSet } from "../match-text.ts";
import { lastPart } from "../paths/match-path.ts";
import { bareCommand } from "./bare-command.ts";
import { subcommandAt } from "./git-guards.ts";
import { optionTable, readOptions } from "./option-reader.ts";
import { literalWord, type ShellWord, textAt } from "./shell-command.ts";
import { unwrap } from "./unwrap.ts";

/** Keeps git from running configured programs for differences: for whole diffs, and for kinds of files. */
export const PLAIN_DIFF: readonly string[] = ["--no-ext-diff", "--no-textconv"];

/** Wrappers that are looked through. */
const MAX_WRAPPERS = 10;

/**
 * The word of a simple command behind which {@link PLAIN_DIFF} has to stand, because git shows differences
 * there; `undefined` where it shows none, and where the options stand there already.
 */
export function diffWord({ name, suffix }: Command): Word | undefined {
  if (!namesGit(name) && !suffix.some(namesGit)) return undefined;
  const words = [...(name === undefined ? [] : [name]), ...suffix.filter((each) => each.type === "Word")];
  const read = words.map(shellWord);
  let git: readonly ShellWord[] = read;
  for (let count = 0; nameOf(git) !== "git"; count++) {
    const inner = unwrap(nameOf(git), bareCommand(git, ""))?.words;
    if (inner === undefined || count === MAX_WRAPPERS) return undefined;
    git = inner;
  }
  const word = git[diffAt(git) ?? git.length];
  return word === undefined ? undefined : words[read.indexOf(word)];
}

/**
 * True when a git command plainly is one that gets {@link PLAIN_DIFF} where it shows differences, or that
 * shows none. Any other name may be an alias of the user.
 */
export function isShownPlainly(words: readonly ShellWord[]): boolean {
  const names = namesOf(words);
  const [sub, two = ""] = names;
  // An older git takes a word it does not know for the reference whose changes it shows.
  if (sub === "reflog" && CHANGES_REFLOG.test(two.slice("reflog ".length))) return false;
  return names.some((name) => SHOWS_NONE.has(name) || SHOWS.has(name) || LISTS.has(name));
}

/**
 * True when git may get another index, with repositories in it that nobody has looked at, and then look at
 * these: to tell what is changed, in a message to be edited too, or to put back what was
 * (`rebase.autoStash`). Any unknown name may do so.
 */
export function maySwitch(words: readonly ShellWord[]): boolean {
  const isKnown = (name: string): boolean =>
    name === "" || STAYS.has(name) || SHOWS.has(name) || LISTS.has(name);
  const names = namesOf(words);
  return names[0] === "commit" ? mayCommitPaths(words) : !names.some(isKnown);
}

/** True when a commit may name paths: what the last commit names there then comes back into the index. */
function mayCommitPaths(words: readonly ShellWord[]): boolean {
  const { operands, unknown } = readOptions(words, COMMIT, subcommandAt(words) + 1);
  return operands.length + unknown.length > 0;
}

/**
 * True when git may put repositories into the index that nobody has looked at, or one in the place that the
 * index names, and leaves it to others to look.
 */
export function mayFill(words: readonly ShellWord[]): boolean {
  return namesOf(words).some((name) => FILLS.has(name));
}

/** The sub-command of git, alone and with the word behind it; none where it is not spelled. */
function namesOf(words: readonly ShellWord[]): readonly string[] {
  const sub = subcommandAt(words);
  const name = textAt(words, sub);
  const isSpelled = words.slice(0, sub + 1).every(({ literal }) => literal);
  return isSpelled ? [name, `${name} ${textAt(words, sub + 1)}`] : [];
}

/** Other sub-commands that look at no repository which the index did not name before. */
const STAYS = wordSet(`
  add am apply archive branch cat-file check-ignore cherry clean clone commit config describe fetch
  for-each-ref format-patch gc grep help init ls-files ls-remote ls-tree merge-base mv notes push remote
  reset restore rev-list rev-parse rm shortlog show-ref status tag version worktree`);

const FILLS: ReadonlySet<string> = new Set([
  "add",
  "am",
  "apply",
  "commit",
  "mv",
  "reset",
  "restore",
  "worktree move",
]);

/** The options of a commit but those that name paths. */
const COMMIT = optionTable(`
  -aeinopqsvz -CFcmt= -Su? all allow-empty allow-empty-message amend author= branch cleanup= date= dry-run edit
  file= fixup= gpg-sign gpg-sign= include interactive long message= no-edit no-gpg-sign no-post-rewrite
  no-signoff no-status no-verify null only patch porcelain quiet reedit-message= reset-author reuse-message=
  short signoff squash= status template= trailer= untracked-files untracked-files= verbose verify`);

/** True when one of the words of a command could be a sub-command of git that shows differences. */
export function mayShowDiffs(words: readonly string[]): boolean {
  return words.some((word) => SHOWING.has(word));
}

/** A quick look, at what is written before the parser has to take the word apart. */
function namesGit(part: Command["suffix"][number] | undefined): boolean {
  return part?.type === "Word" && "t'\"\n".includes(part.text.at(-1) ?? " ") && part.value.endsWith("git");
}

function nameOf([first]: readonly ShellWord[]): string {
  return first?.literal === true ? lastPart(first.text) : "";
}

function shellWord({ value, parts }: Word): ShellWord {
  return parts?.every(isText) === false ? { ...literalWord(value), literal: false } : literalWord(value);
}

function isText(part: WordPart): boolean {
  if (part.type === "DoubleQuoted") return part.parts.every(isText);
  return part.type === "Literal" || part.type === "SingleQuoted" || part.type === "AnsiCQuoted";
}

/** Index of the word of a git command behind which the options belong. */
function diffAt(words: readonly ShellWord[]): number | undefined {
  const sub = subcommandAt(words);
  const two = `${textAt(words, sub)} ${textAt(words, sub + 1)}`;
  const isTwo = SHOWS.has(two) || LISTS.has(two);
  const name = isTwo ? two : textAt(words, sub);
  const at = isTwo ? sub + 1 : sub;
  const rest = words.slice(at + 1);
  if (PLAIN_DIFF.every((option, index) => textAt(rest, index) === option)) return undefined;
  if (SHOWS.has(name)) return at;
  if (!LISTS.has(name) || CHANGES_REFLOG.test(textAt(rest, 0))) return undefined;
  return rest.every(({ text, literal }) => literal && OF_COMMITS.test(text)) ? undefined : at;
}

/** Sub-commands that show differences unless they are told not to. */
const SHOWS: ReadonlySet<string> = new Set([
  "diff",
  "show",
  "blame",
  "annotate",
  "whatchanged",
  "stash show",
]);
/** Sub-commands that list commits, and show differences if they are told to. */
const LISTS: ReadonlySet<string> = new Set(["log", "reflog", "reflog show", "stash list"]);
/** Other sub-commands that start no program for differences. */
const SHOWS_NONE = wordSet(`
  add am apply branch checkout cherry-pick clean clone commit config fetch gc init merge mv pull push rebase
  remote reset restore revert rm submodule switch tag worktree`);
const SHOWING: ReadonlySet<string> = new Set([...SHOWS, ...LISTS].flatMap((names) => names.split(" ")));
const CHANGES_REFLOG = /^(?:expire|delete|drop|exists|list|write)$/;
/** Arguments with which a list of commits shows no differences, nor searches in them. */
const OF_COMMITS =
  /^(?:[^-].*|--|-\d+|-n\d*|--(?:oneline|graph|all|stat|shortstat|name-only|name-status|decorate|no-decorate|no-merges|merges|first-parent|reverse|abbrev-commit|branches|tags|remotes|max-count|skip|since|until|after|before|author|committer|grep|format|pretty|date)(?:=.*)?)$/s;
