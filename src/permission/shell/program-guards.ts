import { wordSet } from "../match-text.ts";
import { FIND_MORE, FIND_TESTS } from "./find-tests.ts";
import { gitGuards } from "./git-guards.ts";
import { hasBeginning, hasWord, optionTable } from "./option-reader.ts";
import { COMMON_LONG, OUTPUT_IS_NO_FILE, PROGRAM_OPTIONS, type ProgramOptions } from "./program-options.ts";
import { readScripts, SCRIPT_PROGRAMS, type ScriptProgram, worstEffect } from "./script-programs.ts";
import { isAsWritten, literalWord, type ShellWord, type SimpleCommand, textAt } from "./shell-command.ts";
import type { WordGuard } from "./shell-unit.ts";
import { UNKNOWN_ARGUMENTS } from "./unwrap.ts";

/** Tells whether a word could take a value that the line chooses, options included. */
export type IsChosen = (word: ShellWord) => boolean;

/**
 * The words of a command that make it run a program or write a file: options, sed and awk scripts, actions of
 * `find`. `words[0]` is the program; `name` its last path component.
 */
export function programGuards(
  name: string,
  words: readonly ShellWord[],
  isChosen: IsChosen,
): readonly WordGuard[] {
  const guards: WordGuard[] = [];
  addGuards(guards, name, words);
  // An expansion may be empty: what is left can be an option all the same.
  if (!words.every(isAsWritten)) addGuards(guards, name, words.map(asResolved));
  const options = PROGRAM_OPTIONS.get(name);
  const hasOptions =
    options !== undefined && (options.short + options.long !== "" || options.word !== undefined);
  if (!hasOptions && !OWN.has(name) && !SCRIPT_PROGRAMS.has(name)) return guards;
  words.forEach((word, index) => {
    if (index === 0 || word.literal || isValue(name, words, index)) return;
    if (couldBeOption(name, word, isChosen))
      guards.push({
        from: index,
        to: index + 1,
        reason: `${word.text === "" ? "what is added to it" : word.text} could turn into an option of ${name}`,
      });
  });
  return guards;
}

/** Options whose next word is a value, whatever it looks like. */
const VALUE_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ["git", /^(?:-[a-z]*m|--(?:message|author|grep|since|until|before|after|date|trailer|branch))$/],
  ["curl", /^(?:-[a-zA-Z]*[HdXuAbe]|--(?:header|data|data-raw|data-binary|json|request|user|form|url))$/],
  ["sort", /^-(?:k|t)$/],
  ["tar", /^-?[a-zA-Z]*f$|^-C$/],
  ["rg", /^-(?:e|g|A|B|C|m|t)$/],
]);

function isValue(name: string, words: readonly ShellWord[], index: number): boolean {
  const [word, before] = [words[index], words[index - 1]];
  if (word === undefined || word.splits || word.glob || word.braces || before?.literal !== true) return false;
  if (name === "find" || name === "gfind") return hasWord(FIND_TESTS, `${before.text}=`);
  return VALUE_OPTIONS.get(name)?.test(before.text) === true;
}

const OWN = wordSet("find gfind fd fdfind git");

function ownGuards(name: string, words: readonly ShellWord[]): readonly WordGuard[] {
  switch (name) {
    case "find":
    case "gfind":
      return findGuards(words);
    case "fd":
    case "fdfind":
      return fdGuards(words);
    case "git":
      return gitGuards(words);
    case "pip":
    case "pip3":
      return pipGuards(words);
    default: {
      const program = SCRIPT_PROGRAMS.get(name);
      return program === undefined ? NO_GUARDS : scriptGuards(words, program);
    }
  }
}

const NO_GUARDS: readonly WordGuard[] = [];

/** For `list` and `freeze` `--local` is an option without a value; elsewhere it abbreviates `--local-log`. */
function pipGuards(words: readonly ShellWord[]): readonly WordGuard[] {
  if (["list", "freeze"].includes(textAt(words, 1))) return NO_GUARDS;
  const reason = "--local makes pip write a file";
  return words.flatMap(({ text }, index) =>
    text === "--local" ? [{ from: index, to: index + 1, reason }] : [],
  );
}

function addGuards(guards: WordGuard[], name: string, words: readonly ShellWord[]): void {
  addOptionGuards(guards, name, words);
  for (const guard of ownGuards(name, words)) guards.push(guard);
}

function asResolved(word: ShellWord): ShellWord {
  return isAsWritten(word) ? word : { ...word, text: word.resolved };
}

function addOptionGuards(guards: WordGuard[], name: string, words: readonly ShellWord[]): void {
  const options = PROGRAM_OPTIONS.get(name) ?? NO_OPTIONS;
  for (let index = 1; index < words.length; index++) {
    const { text, literal, glob } = words[index] ?? literalWord("");
    if (options === NO_OPTIONS && !text.startsWith("-")) continue;
    if (text === "--" && options.traits.has("ends")) break;
    const isPair = options.pair?.test(`${textAt(words, index - 1)} ${text}`) === true;
    // A glob that finds nothing stays as it is written.
    const isText = (literal || glob) && options.text?.test(text) === true;
    const isGuarded = isPair || isText || isGuardedAt(index, name, { text, options });
    if (!isGuarded) continue;
    const reason = `${text} makes ${name} run a program or write a file`;
    guards.push({ from: index, to: index + 1, reason, ...programOf(words, index) });
  }
}

function isGuardedAt(
  index: number,
  name: string,
  { text, options }: { readonly text: string; readonly options: ProgramOptions },
): boolean {
  if (index === 1 && options.traits.has("plugins") && text.includes("/")) return true;
  // Behind its first word tar takes only what has a dash for options.
  if (name === "tar" && index > 1 && !text.startsWith("-")) return false;
  return isGuardedOption(name, text, options);
}

/** The program that a long option names in plain words, and where its value ends. */
function programOf(words: readonly ShellWord[], index: number): Partial<WordGuard> {
  const word = words[index];
  const [, option = "", equals, attached = ""] = /^--([a-z-]+)(?:(=)(.*))?$/s.exec(word?.text ?? "") ?? [];
  if (!RUNS_ITS_VALUE.has(option) || word?.literal !== true) return {};
  const next = equals === undefined ? words[index + 1] : undefined;
  const value = equals === undefined ? (next?.literal === true ? next.text : "") : attached;
  if (!PLAIN_WORDS.test(value)) return {};
  const program = [...value.split(" ").map(literalWord), UNKNOWN_ARGUMENTS];
  return { to: index + (next === undefined ? 1 : 2), program };
}

/** Long options whose value is a program, with arguments it may have and others that are added. */
const RUNS_ITS_VALUE: ReadonlySet<string> = new Set(
  ["pre", "compress-program", "use-compress-program", "to-command", "pager", "rsh", "extcmd"].concat(
    "filter",
  ),
);
const PLAIN_WORDS = /^[\w./+@%:-]+(?: [\w./+@%:,-]+)*$/;

const NO_OPTIONS: ProgramOptions = { ...optionTable(""), harmless: "" };

/** True when a word is an option that makes a program run another one or write a file. */
export function isGuardedOption(name: string, text: string, options: ProgramOptions): boolean {
  if (options.word?.test(text) === true) return true;
  if (text.startsWith("--") || (options.traits.has("dashes") && /^-\w{2}/.test(text)))
    return isGuardedLong(name, optionName(text, options), options);
  if (!text.startsWith("-") || options.short === "")
    return text === "-O" && !/^(?:g?cc|[gc]\+\+|clang)/.test(name);
  for (const letter of text.slice(1)) {
    if (options.short.includes(letter)) return true;
    if (options.valued.includes(letter)) return false;
  }
  return false;
}

/** An option's name as npm takes it: all dashes go, and negations that cancel each other. */
function optionName(text: string, { traits }: ProgramOptions): string {
  const name = traits.has("dashes") ? text.replace(/^-+(?:no-no-)*-*/, "") : text.slice(2);
  return name.split("=", 1)[0] ?? "";
}

function isGuardedLong(program: string, name: string, options: ProgramOptions): boolean {
  if (name === "") return false;
  if (COMMON_LONG.has(name)) return !OUTPUT_IS_NO_FILE.has(program);
  return !hasWord(options.harmless, name) && hasBeginning(options.long, name);
}

/** An expansion that could become an option by the line itself, not by chance of file names. */
function couldBeOption(name: string, word: ShellWord, isChosen: IsChosen): boolean {
  if (word.braces) return true;
  if (word.glob) return /^[-[?+@!]/.test(word.text);
  const first = word.text.charAt(0);
  const begins = first === "$" || first === "`" || first === "-" || first === "<";
  if (!begins && !word.names.some((each) => isChosen({ ...word, names: [each], substitutions: [] }))) {
    return word.substitutions.length > 0 && !word.substitutions.every((commands) => reports(name, commands));
  }
  if (word.substitutions.some((commands) => !reports(name, commands))) return true;
  return word.names.length > 0 && isChosen(word);
}

const REPORTERS = wordSet("pwd date ls find which nproc hostname whoami id uname mktemp wc seq");
const GIT_REPORTS = wordSet("merge-base rev-parse rev-list symbolic-ref describe branch ls-files diff");

/** True when a substitution prints facts about the machine, not texts that the line itself spells. */
function reports(outer: string, commands: readonly SimpleCommand[]): boolean {
  return (
    commands.length > 0 &&
    commands.every(({ words, assignments }) => {
      const name = words[0]?.text ?? "";
      const known = name === "git" ? GIT_REPORTS.has(words[1]?.text ?? "") : REPORTERS.has(name);
      if (!known || assignments.length > 0 || words.some((word) => !word.literal)) return false;
      if (name === "find" || name === "ls" || name === "date")
        return words.slice(1).every(({ text }) => /^[\w./]/.test(text));
      const options = PROGRAM_OPTIONS.get(outer) ?? NO_OPTIONS;
      return words
        .slice(1)
        .every(({ text }) => !isGuardedOption(outer, text, options) && !/^--?(?:c|o|O|e)/.test(text));
    })
  );
}

const FIND_WRITES = wordSet("-delete -fprint -fprint0 -fprintf -fls");
const FIND_RUNS = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

function findGuards(words: readonly ShellWord[]): readonly WordGuard[] {
  const guards: WordGuard[] = [];
  for (let index = 1; index < words.length; index++) {
    const text = words[index]?.text ?? "";
    if (FIND_WRITES.has(text)) {
      const to = Math.min(words.length, index + (text === "-delete" ? 1 : 2));
      guards.push({ from: index, to, reason: `${text} deletes or writes files` });
    }
    if (!FIND_RUNS.has(text)) {
      if (hasWord(FIND_TESTS, `${text}=`) && isOneWord(words[index + 1])) index++;
      else if (isUnknownTest(words[index]))
        guards.push({
          from: index,
          to: index + 1,
          reason: `${text} is not a test of find that is known here`,
        });
      continue;
    }
    let end = index + 1;
    while (end < words.length && !isEndOfExec(words, end)) end++;
    // Before a plus it becomes as many words as there are files.
    const isMany = words[end]?.text === "+";
    const program = words
      .slice(index + 1, end)
      .map(unknownWhere("{}"))
      .map((word) => (isMany && word.text === "{}" ? { ...word, splits: true } : word));
    guards.push({
      from: index,
      to: Math.min(words.length, end + 1),
      reason: `${text} runs a program`,
      program,
      ...(text.endsWith("dir") ? { elsewhere: true } : {}),
    });
    index = end;
  }
  return guards;
}

function isOneWord(word: ShellWord | undefined): boolean {
  return word !== undefined && !word.splits && !word.glob && !word.braces;
}

function isUnknownTest({ text, literal }: ShellWord = literalWord("")): boolean {
  const isKnown = [FIND_TESTS, FIND_MORE].some((list) => hasWord(list, text) || hasWord(list, `${text}=`));
  return literal && /^-\D/.test(text) && !isKnown;
}

function isEndOfExec(words: readonly ShellWord[], index: number): boolean {
  const text = words[index]?.text;
  return text === ";" || (text === "+" && words[index - 1]?.text === "{}");
}

/**
 * Words in which a placeholder will be replaced by something nobody knows yet. Alone it is a path below the
 * folders that are searched; as a part of a word, any text.
 */
export function unknownWhere(placeholder: string): (word: ShellWord) => ShellWord {
  return (word) => {
    if (!word.text.includes(placeholder)) return word;
    if (word.text === "{}") return { ...word, literal: false };
    return { ...word, literal: false, names: [...word.names, "@"] };
  };
}

function fdGuards(words: readonly ShellWord[]): readonly WordGuard[] {
  const index = words.findIndex(({ text }) =>
    /^(?:-[A-Za-z]*[xX]$|--exec$|--exec-batch$|--exec(?:-batch)?=)/.test(text),
  );
  if (index < 1) return [];
  const program = words.slice(index + 1).map(unknownWhere("{"));
  return [{ from: index, to: words.length, reason: `${words[index]?.text ?? ""} runs a program`, program }];
}

/** Guards options not known to be harmless, and scripts of sed and awk that may do more than print. */
function scriptGuards(words: readonly ShellWord[], program: ScriptProgram): readonly WordGuard[] {
  const { scripts, unknown } = readScripts(program, words);
  const options = unknown.map((from): WordGuard => {
    const { text = "" } = words[from] ?? {};
    return {
      from,
      to: from + 1,
      reason: `${text} may make ${words[0]?.text ?? "it"} run a program or write a file`,
    };
  });
  const running = scripts.filter((script) => worstEffect(program, [script]) === "runs");
  return [
    ...options,
    ...running.map(({ from, to, script }): WordGuard => {
      return { from, to, reason: `the script ${script.text} may run a program or write a file` };
    }),
  ];
}
