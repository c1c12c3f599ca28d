import type { PathSpace } from "./paths/path-space.ts";
import { PLAIN_WRAPPERS, READ_ONLY_BY_PROGRAM, type ReadOnlyCommand } from "./read-only-commands.ts";
import { mayShowSecret, secretInWord } from "./secret-files.ts";
import { awkEffect } from "./shell/awk-script.ts";
import { findScripts } from "./shell/script-words.ts";
import { sedEffect } from "./shell/sed-script.ts";
import type { ShellWord } from "./shell/shell-command.ts";
import type { ShellUnit } from "./shell/shell-unit.ts";
import type { KnownVariables } from "./shell/variable-scope.ts";

/** What coverage by the built-in commands depends on. */
export interface ReadOnlyContext {
  readonly space: PathSpace;
  readonly variables: KnownVariables;
}

/**
 * The name of the built-in rule that covers a command: it only looks, with options known to be harmless, at places inside the
 * workspace. `undefined` when there is none.
 */
export function readOnlyRule(unit: ShellUnit, context: ReadOnlyContext): string | undefined {
  if (
    unit.guards.length > 0 ||
    unit.unseen !== undefined ||
    unit.blocked !== undefined ||
    unit.words.length === 0
  )
    return undefined;
  if (unit.words.some(({ assigns, braces }) => assigns !== undefined || braces)) return undefined;
  const program = unit.words[0]?.text ?? "";
  const known = coveringName(program, unit.words, context);
  if (known !== undefined) return known;
  return PLAIN_WRAPPERS.has(program) && !unit.words.some(({ text }) => /^(?:-a|--arg-file)/.test(text))
    ? `${program} (as a wrapper)`
    : undefined;
}

function coveringName(
  program: string,
  words: readonly ShellWord[],
  context: ReadOnlyContext,
): string | undefined {
  switch (program) {
    case "sed":
      return coversSed(words, context) ? "sed (printing)" : undefined;
    case "awk":
    case "gawk":
    case "mawk":
      return coversAwk(words, context) ? "awk (printing)" : undefined;
    default:
      return coveringCommand(words, context)?.name;
  }
}

/** Whether a program is one of those that only look, whatever its options. */
export function isReadOnlyProgram(name: string): boolean {
  return name === "sed" || name === "awk" || READ_ONLY_BY_PROGRAM.has(name);
}

function coveringCommand(words: readonly ShellWord[], context: ReadOnlyContext): ReadOnlyCommand | undefined {
  const program = words[0]?.text ?? "";
  // Options of git that change nothing but how it prints.
  const plain = program === "git" && /^(?:--no-pager|-P)$/.test(words[1]?.text ?? "") && words[1]?.literal;
  const rest = plain === true ? [...words.slice(0, 1), ...words.slice(2)] : words;
  return READ_ONLY_BY_PROGRAM.get(program)?.find(
    (command) => isNamed(command, rest) && covers(command, rest, context),
  );
}

function isNamed({ name }: ReadOnlyCommand, words: readonly ShellWord[]): boolean {
  if (!name.includes(" ")) return words[0]?.literal === true;
  return name.split(" ").every((part, index) => words[index]?.text === part && words[index].literal);
}

function covers(command: ReadOnlyCommand, words: readonly ShellWord[], context: ReadOnlyContext): boolean {
  const operands =
    command.words === undefined
      ? afterOptions(command, words, command.name.split(" ").length)
      : afterWords(command.words, words);
  if (operands === undefined || operands.length > (command.max ?? Number.POSITIVE_INFINITY)) return false;
  if (command.begins !== undefined && !operands.every(({ text }) => text.startsWith(command.begins ?? "")))
    return false;
  if (
    command.name === "jq" &&
    operands.some(({ text }) => /\benv\b|\$ENV|\binclude\b|\bimport\b|\binput_/.test(text))
  )
    return false;
  switch (command.operands) {
    case "none":
      return operands.length === 0;
    case "texts":
      return operands.every((word) => isHarmlessText(word, context));
    case "names":
      return operands.every((word) => isHarmlessText(word, context) && staysInside(word, context));
    case "pattern":
      return isSearchInside(operands, words, context);
    case "paths":
      return operands.every((word) => staysInside(word, context));
  }
}

/** A search: its first operand is the pattern, unless there is none (`rg --files`). */
function isSearchInside(
  operands: readonly ShellWord[],
  words: readonly ShellWord[],
  context: ReadOnlyContext,
): boolean {
  const first = words.some(({ text }) => text === "--files" || text === "--type-list") ? 0 : 1;
  return (
    operands.slice(0, first).every((word) => isHarmlessText(word, context)) &&
    operands.slice(first).every((word) => staysInside(word, context))
  );
}

/** The operands, or `undefined` when an option is not among the known ones. */
function afterOptions(
  command: ReadOnlyCommand,
  words: readonly ShellWord[],
  from: number,
): readonly ShellWord[] | undefined {
  const operands: ShellWord[] = [];
  for (let at = from; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    if (isOperand(command.name, word.text)) {
      operands.push(word);
      continue;
    }
    if (word.text === "--") return [...operands, ...words.slice(at + 1)];
    const length = word.literal ? optionLength(command, word.text) : undefined;
    if (length === undefined) return undefined;
    at += length - 1;
    if (length === 2 && !isPlainValue(words[at])) return undefined;
  }
  return operands;
}

/** `echo` and `printf` take whatever is no option of theirs for a text. */
function isOperand(name: string, text: string): boolean {
  if (name === "printf") return true;
  return name === "echo" ? !/^-[neE]+$/.test(text) : !text.startsWith("-") || text === "-";
}

function optionLength(command: ReadOnlyCommand, text: string): 1 | 2 | undefined {
  return text.startsWith("--") ? longLength(command, text) : shortLength(command, text);
}

function isPlainValue(word: ShellWord | undefined): boolean {
  return word !== undefined && word.names.length === 0 && word.substitutions.length === 0;
}

function longLength({ long = "" }: ReadOnlyCommand, text: string): 1 | 2 | undefined {
  const [name = "", value] = text.slice(2).split("=", 2);
  if (value !== undefined) return hasWord(long, `${name}=`) ? 1 : undefined;
  if (hasWord(long, name)) return 1;
  return hasWord(long, `${name}=`) ? 2 : undefined;
}

function shortLength({ short = "", valued = "", numbers }: ReadOnlyCommand, text: string): 1 | 2 | undefined {
  if (numbers === true && /^-\d+$/.test(text)) return 1;
  for (let place = 1; place < text.length; place++) {
    const letter = text.charAt(place);
    if (short.includes(letter)) continue;
    if (!valued.includes(letter)) return undefined;
    return place === text.length - 1 ? 2 : 1;
  }
  return 1;
}

/** Whether a list of words between blanks holds `word`. */
function hasWord(list: string, word: string): boolean {
  return word !== "" && !word.includes(" ") && ` ${list} `.includes(` ${word} `);
}

/** For programs whose options are whole words (`find`, `test`): the words that are none of them. */
function afterWords(known: string, words: readonly ShellWord[]): readonly ShellWord[] | undefined {
  const operands: ShellWord[] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    if (hasWord(known, word.text) && word.literal) continue;
    if (word.literal && hasWord(known, `${word.text}=`)) {
      at++;
      if (words[at] === undefined || !isPlainValue(words[at])) return undefined;
    } else if (word.text.startsWith("-") && !/^-\d+$/.test(word.text)) return undefined;
    else operands.push(word);
  }
  return operands;
}

/** A text that shows nothing secret: no variable that may hold a key, no value that nobody knows beyond that. */
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

/** Whether a word that may be a path leads nowhere but into the workspace. */
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

/** A word that is one variable of the line, with values that all stay inside; or a substitution the shell hands over as a file. */
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

/** `sed -n '1,20p' file`: a script that neither runs, writes nor reads other files. */
function coversSed(words: readonly ShellWord[], context: ReadOnlyContext): boolean {
  const scripts = findScripts(words, { script: "e", long: "expression", valued: "ls" });
  const held = new Set(scripts.map(({ index }) => index));
  if (
    scripts.length === 0 ||
    scripts.some(({ text, index }) => words[index]?.literal !== true || sedEffect(text) !== "none")
  )
    return false;
  return words.every((word, index) => {
    if (index === 0 || held.has(index)) return true;
    if (word.text.startsWith("-"))
      return word.literal && (/^-[nErszu]*e?$/.test(word.text) || word.text === "--expression");
    return staysInside(word, context);
  });
}

/** `awk '{print $1}' file`: a program that neither runs, writes nor reads other files, nor looks at the environment. */
function coversAwk(words: readonly ShellWord[], context: ReadOnlyContext): boolean {
  const [script] = findScripts(words, { script: "", long: "source", valued: "Fv" });
  const word = script === undefined ? undefined : words[script.index];
  if (script === undefined || word?.literal !== true || script.text !== word.text) return false;
  if (awkEffect(script.text) !== "none" || AWK_REACHES.test(script.text)) return false;
  return words.every(({ text, literal }, index) => {
    if (index === 0 || index === script.index) return true;
    if (index > script.index) return !text.startsWith("-") && staysInside(words[index] ?? word, context);
    return literal && (text.startsWith("-F") || words[index - 1]?.text === "-F");
  });
}

/** What gives an awk program other files or the environment, or a name for those. */
const AWK_REACHES = /\b(?:ARG[VC]|ENVIRON|SYMTAB|FUNCTAB|PROCINFO|getline|system)\b|@/;

/** The secret file that a command names, as far as its words show it; programs that only print or test names aside. */
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

const NAMES_ONLY = new Set([
  "echo",
  "printf",
  "ls",
  "stat",
  "test",
  "[",
  "basename",
  "dirname",
  "which",
  "type",
  "cd",
  "mkdir",
]);
