import { existsSync } from "node:fs";
import { wordSet } from "./match-text.ts";
import { userFilterWords } from "./paths/git-settings.ts";
import { lastPart } from "./paths/match-path.ts";
import type { PathSpace } from "./paths/path-space.ts";
import { isSameRepository } from "./paths/repository.ts";
import { PLAIN_WRAPPERS, READ_ONLY_BY_HEAD, type ReadOnlyCommand } from "./read-only-commands.ts";
import { mayShowSecret, secretInWord, secretPattern } from "./secret-files.ts";
import { FIND_PATHS } from "./shell/find-tests.ts";
import { isPlainLogFormat, isPlainRefFormat } from "./shell/git-guards.ts";
import { isPlainFilter } from "./shell/jq-filter.ts";
import { type FoundOption, type OptionTable, optionTable, readOptions } from "./shell/option-reader.ts";
import { readScripts, SCRIPT_PROGRAMS, type ScriptProgram, worstEffect } from "./shell/script-programs.ts";
import { type KnownVariables, type ShellWord, textAt } from "./shell/shell-command.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";

/** The facts that coverage by the built-in commands depends on. */
export interface ReadOnlyContext {
  readonly space: PathSpace;
  readonly variables: KnownVariables;
  /** True when the mode accepts edits inside the workspace. */
  readonly edits: boolean;
}

/**
 * The name of the built-in rule that covers a command: it only looks, with options known to be harmless, at
 * places inside the workspace. `undefined` when there is none.
 */
export function readOnlyRule(unit: ShellUnit, context: ReadOnlyContext): string | undefined {
  if (
    unit.guards.length > 0 ||
    unit.unseen !== undefined ||
    unit.elsewhere === true ||
    unit.blocked !== undefined ||
    unit.words.length === 0
  )
    return undefined;
  if (unit.words.some(({ assigns, braces }) => assigns !== undefined || braces)) return undefined;
  const program = unit.words[0]?.text ?? "";
  if (runsOfWorkspace(program, context)) return undefined;
  const known = coveringName(program, unit.words, context);
  if (known !== undefined) return known;
  const edit = context.edits ? editRule(unit.words, context.space) : undefined;
  if (edit !== undefined) return edit;
  return PLAIN_WRAPPERS.has(program) && !unit.words.some(({ text }) => /^(?:-a|--arg-file)/.test(text))
    ? `${program} (as a wrapper)`
    : undefined;
}

/** The commands of the shell itself. */
const OF_THE_SHELL: ReadonlySet<string> = new Set(
  "[ : break builtin cd command continue echo exit false printf pushd pwd test true type".split(" "),
);

/** Programs a program starts by name: always, for what it reads, or by most users' settings. */
const STARTED_BY: ReadonlyMap<string, readonly string[]> = new Map([
  ["git", ["git-lfs", "ssh"]],
  ["egrep", ["grep"]],
  ["fgrep", ["grep"]],
  ["npm", ["node"]],
  ["tar", ["gzip", "bzip2", "xz", "zstd", "lzip", "lzma", "lzop", "compress"]],
]);

/** True when the workspace may bring what a name stands for, or what that starts. */
function runsOfWorkspace(program: string, { space }: ReadOnlyContext): boolean {
  const filters = program === "git" && space.searchesWorkspace ? userFilterWords(space.home) : [];
  const names = [program, ...(STARTED_BY.get(program) ?? []), ...filters];
  return names.some((name) => !OF_THE_SHELL.has(name) && space.hasProgram(name));
}

function coveringName(
  program: string,
  words: readonly ShellWord[],
  context: ReadOnlyContext,
): string | undefined {
  const scripts = program === "gsed" || program === "nawk" ? undefined : SCRIPT_PROGRAMS.get(program);
  if (scripts === undefined) return coveringCommand(words, context)?.name;
  if (words[0]?.literal !== true || !coversScripts(scripts, words, context)) return undefined;
  return program === "sed" ? "sed (printing)" : "awk (printing)";
}

/** True when a program only looks, harmful options aside; not where only some of its sub-commands do. */
export function isReadOnlyProgram(name: string): boolean {
  return name === "sed" || name === "awk" || (!name.includes(" ") && READ_ONLY_BY_HEAD.has(name));
}

function coveringCommand(words: readonly ShellWord[], context: ReadOnlyContext): ReadOnlyCommand | undefined {
  const program = textAt(words, 0);
  const found = program === "git" ? withoutGlobals(words, context) : { words, context };
  if (found === undefined) return undefined;
  const fits = (command: ReadOnlyCommand): boolean =>
    isNamed(command, found.words) && covers(command, found.words, found.context);
  const head = `${program} ${textAt(found.words, 1)}`;
  return READ_ONLY_BY_HEAD.get(head)?.find(fits) ?? READ_ONLY_BY_HEAD.get(program)?.find(fits);
}

/**
 * A command of git without the options before its sub-command that change nothing but how it prints, and
 * where it starts: a folder that is there, inside the workspace, with the same repository.
 */
function withoutGlobals(
  words: readonly ShellWord[],
  context: ReadOnlyContext,
): { readonly words: readonly ShellWord[]; readonly context: ReadOnlyContext } | undefined {
  const [program, option, folder] = words;
  if (program === undefined || option?.literal !== true) return { words, context };
  if (option.text === "--no-pager" || option.text === "-P")
    return withoutGlobals([program, ...words.slice(2)], context);
  if (option.text !== "-C") return { words, context };
  const { space } = context;
  if (folder?.literal !== true || folder.text.startsWith("~") || !space.isUnambiguous(folder.text))
    return undefined;
  const { resolved } = space.path(folder.text);
  if (!space.isInside(resolved) || !existsSync(resolved) || !isSameRepository(resolved, space.place))
    return undefined;
  return withoutGlobals([program, ...words.slice(3)], { ...context, space: space.from(folder.text) });
}

function isNamed({ name }: ReadOnlyCommand, words: readonly ShellWord[]): boolean {
  return name.split(" ").every((part, index) => words[index]?.text === part && words[index].literal);
}

function covers(command: ReadOnlyCommand, words: readonly ShellWord[], context: ReadOnlyContext): boolean {
  const { name, traits } = command;
  const from = name.split(" ").length;
  // These take whatever is no option of theirs for a text.
  if (command.operands === "texts" && command.short === "" && !traits.has("words"))
    return areTexts(command, words.slice(from), context);
  const { options, operands: places, unknown, open, shifts } = readOptions(words, command, from);
  const operands = places.flatMap((index) => words[index] ?? []);
  if (unknown.length > 0 || !options.every((option) => isHarmlessOption(command, option, context)))
    return false;
  const mayBecome = open.flatMap((index) => words[index] ?? []);
  const isSharp = name.startsWith("git ") || traits.has("sharp");
  if ((isSharp || traits.has("reads")) && mayBecomeOption(mayBecome, { ...context, isSharp })) return false;
  const isPattern = !shifts && !options.some((option) => PATTERN_OPTIONS.has(option.name));
  return areHarmless(command, operands, { ...context, isPattern });
}

/** True when the operands are as required; a search's first is its pattern unless an option brings that. */
function areHarmless(
  command: ReadOnlyCommand,
  operands: readonly ShellWord[],
  { isPattern, ...context }: ReadOnlyContext & { readonly isPattern: boolean },
): boolean {
  const first = isPattern ? 1 : 0;
  switch (command.operands) {
    case "filter":
      return (
        operands[0]?.literal === true &&
        isPlainFilter(operands[0].text) &&
        operands.slice(1).every((word) => staysInside(word, context))
      );
    case "none":
      return operands.length === 0;
    case "texts":
      return areTexts(command, operands, context);
    case "names":
      return operands.every((word) => isHarmlessText(word, context) && staysInside(word, context));
    case "pattern":
      return (
        operands.slice(0, first).every((word) => isHarmlessText(word, context)) &&
        operands.slice(first).every((word) => staysInside(word, context))
      );
    default:
      return hasFew(command, operands) && operands.every((word) => staysInside(word, context));
  }
}

function areTexts(
  command: ReadOnlyCommand,
  operands: readonly ShellWord[],
  context: ReadOnlyContext,
): boolean {
  const begin = command.traits.has("date") ? "+" : "";
  return (
    hasFew(command, operands) &&
    operands.every((word) => word.text.startsWith(begin) && isHarmlessText(word, context))
  );
}

/** Where the number of operands decides what is done, each must be one word. */
function hasFew({ traits }: ReadOnlyCommand, operands: readonly ShellWord[]): boolean {
  if (!traits.has("single")) return true;
  return operands.length <= 1 && operands.every(({ glob, splits }) => !glob && !splits);
}

/** Options of a search that bring the pattern, or need none. */
const PATTERN_OPTIONS: ReadonlySet<string> = new Set(["-e", "--regexp", "--files", "--type-list"]);

function isHarmlessOption(
  { name: command }: ReadOnlyCommand,
  { name, value }: FoundOption,
  context: ReadOnlyContext,
): boolean {
  if (value === undefined) return true;
  if (FIND_PATHS.has(name)) return staysInside(value, context);
  if (name === "--sort" && command.startsWith("git "))
    return isPlainRefFormat(`%(${value.text.replace(/^-?(?:v(?:ersion)?:)?/, "")})`);
  if (name !== "--format" && name !== "--pretty") return true;
  if (!command.startsWith("git ")) return true;
  return (REFERENCES.test(command) ? isPlainRefFormat : isPlainLogFormat)(value.text);
}

const REFERENCES = /^git (?:branch|tag|for-each-ref)/;

/**
 * A name that a glob finds begins as the glob does: a file called like an option would become one where no
 * `--` stands before it. That goes for a variable of the line with such a value too. An option that names a
 * place elsewhere takes a folder: a slash in the glob.
 */
function mayBecomeOption(
  operands: readonly ShellWord[],
  { variables, isSharp }: ReadOnlyContext & { readonly isSharp: boolean },
): boolean {
  const isOpen = ({ glob, text }: ShellWord): boolean =>
    glob && /^[*?[+@!]/.test(text) && (isSharp || text.includes("/"));
  const becomesOpen = ({ names, text }: ShellWord): boolean =>
    text.startsWith("$") &&
    names.some(
      (name) => variables.get(name)?.some((value) => isOpen(value) || value.text.startsWith("-")) === true,
    );
  return operands.some((word) => isOpen(word) || becomesOpen(word));
}

/** A text that shows nothing secret: no variable that may hold a key, and no other unknown value. */
function isHarmlessText(word: ShellWord, context: ReadOnlyContext): boolean {
  const { variables } = context;
  // A glob lists names of files.
  if (word.glob && word.names.length === 0 && !staysInside(word, context)) return false;
  return word.names.every(
    (name) =>
      variables.has(name) || name === "#" || (/^(?:[?$#@*!0-9]|\w+)$/.test(name) && !SECRET_NAME.test(name)),
  );
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASS|CRED|AUTH|PRIVATE|SESSION|COOKIE|^!$/i;

/** True when a word that may be a path leads nowhere but into the workspace. */
function staysInside(word: ShellWord, context: ReadOnlyContext): boolean {
  const { space } = context;
  if (word.substitutions.length > 0) return false;
  if (word.names.length > 0) return expandsInside(word, context);
  // A quoted tilde is a name, an unquoted one with a name behind it somebody's home.
  if (word.tilde && !/^~(?:$|\/)/.test(word.text)) return false;
  if (word.text.startsWith("~") && !word.tilde) return space.isInside(space.path(`./${word.text}`).resolved);
  if (word.glob && (word.text.includes("..") || /(?:^|\/)\.[*?[]/.test(word.text))) return false;
  const fixed = word.glob ? (word.text.split(/[*?[({]/, 1)[0] ?? "") : word.text;
  if (/:(?:\/|\.\.|~)/.test(fixed)) return false;
  return fixed === "" || fixed === "-" || space.isInside(space.path(fixed).resolved);
}

/** One variable whose values all stay inside, or a substitution that the shell hands over as a file. */
function expandsInside({ names, text, splits }: ShellWord, context: ReadOnlyContext): boolean {
  if (names.length !== 1) return false;
  const name = names[0] ?? "";
  if (name === "/dev/fd") return true;
  const values = text === `$${name}` || text === `\${${name}}` ? context.variables.get(name) : undefined;
  return (
    values?.every(
      (value) => value.names.length === 0 && (!splits || isOneWord(value)) && staysInside(value, context),
    ) === true
  );
}

/** A value that stays one word, and no option, where an unquoted variable stands for it. */
function isOneWord({ text, literal }: ShellWord): boolean {
  return literal && /^[\w./:@%+,^=][\w./:@%+,^=-]*$/.test(text);
}

/** Scripts like `sed -n '1,20p' file` that run and write nothing and read no other file or environment. */
function coversScripts(
  program: ScriptProgram,
  words: readonly ShellWord[],
  context: ReadOnlyContext,
): boolean {
  const { scripts, files, open, unknown } = readScripts(program, words);
  return (
    unknown.length === 0 &&
    scripts.length > 0 &&
    worstEffect(program, scripts) === "none" &&
    !mayBecomeOption(open, { ...context, isSharp: true }) &&
    files.every((word) => !word.text.startsWith("-") && staysInside(word, context))
  );
}

/** The secret file a command names, as far as its words show; not for those that only print or test. */
export function secretOf(unit: ShellUnit): string | undefined {
  if (NAMES_ONLY.has(unit.name)) return undefined;
  if (!mayShowSecret(unit.text) && unit.words.every(({ glob, text, resolved }) => !glob && text === resolved))
    return undefined;
  for (let index = 1; index < unit.words.length; index++) {
    const word = unit.words[index];
    const found = word === undefined ? undefined : secretOfWord(word);
    if (found !== undefined) return found;
  }
  return undefined;
}

function secretOfWord({ text, resolved, glob }: ShellWord): string | undefined {
  return secretInWord(text, glob) ?? (resolved === text ? undefined : secretInWord(resolved, glob));
}

const NAMES_ONLY = wordSet("echo printf ls stat test [ basename dirname which type cd mkdir");

/** Commands that do what `write` could: accepting edits runs them on literal paths in the workspace. */
const EDITS: ReadonlyMap<string, OptionTable> = new Map([
  ["mkdir", optionTable("-pv parents verbose")],
  ["cp", optionTable("-pvfn preserve verbose force no-clobber")],
]);

/** The rule by which accepting edits covers a command: new folders, or a copy of one file, inside. */
export function editRule(words: readonly ShellWord[], space: PathSpace): string | undefined {
  const [program] = words;
  const table = program?.literal === true ? EDITS.get(program.text) : undefined;
  if (program === undefined || table === undefined || !words.every(({ literal }) => literal))
    return undefined;
  const { operands, unknown } = readOptions(words, table);
  const paths = operands.map((index) => words[index]?.text ?? "");
  if (unknown.length > 0 || paths.length === 0 || paths.includes("")) return undefined;
  if (program.text === "cp" && paths.length !== 2) return undefined;
  const [source = "", target = ""] = paths;
  const written = program.text === "cp" ? [target, `${target}/${lastPart(source)}`] : paths;
  const isPlain = [...paths, ...written].every((path) => isEditable(path, space));
  return isPlain ? `${program.text} (accepting edits)` : undefined;
}

/** Looks behind links: inside the workspace, and neither a file with keys nor machinery. */
function isEditable(path: string, space: PathSpace): boolean {
  if (path.startsWith("~")) return false;
  const judged = space.path(path);
  return (
    space.isInside(judged.resolved) &&
    !space.isMachinery(judged) &&
    secretPattern(path) === undefined &&
    secretPattern(judged.resolved) === undefined
  );
}
