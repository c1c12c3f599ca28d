import type { ParsedScript } from "unbash";
import { lastPart } from "../paths/match-path.ts";
import { bareCommand, plainWords, roughCommands } from "./bare-command.ts";
import { evaluates } from "./evaluating-builtins.ts";
import type { InnerCommand } from "./inner-command.ts";
import { readShell } from "./read-shell.ts";
import {
  isAsWritten,
  type KnownVariables,
  literalWord,
  resolvedText,
  type ShellObstacle,
  type ShellRedirect,
  type ShellWord,
  type SimpleCommand,
  standsAlone,
  textOf,
  VariableScope,
  type WorkFolders,
} from "./shell-command.ts";
import type { ShellUnit } from "./shell-unit.ts";
import { assignmentGuards, textGuards } from "./text-guards.ts";
import { unwrap } from "./unwrap.ts";
import { foldersFrom, START } from "./work-folders.ts";
import { PASSING_PROGRAMS } from "./wrappers.ts";

/** Everything a command line runs or opens. */
export interface ShellPlan {
  readonly units: readonly ShellUnit[];
  readonly redirects: readonly ShellRedirect[];
  readonly obstacles: readonly ShellObstacle[];
  /** The line and those that its commands hand to a shell: what is allowed to run is printed anew. */
  readonly lines: readonly JudgedLine[];
  /** Variables of the line itself, with their values where they are known. */
  readonly variables: KnownVariables;
  /** A command that stands in the line more than once is among the units once. */
  readonly repeats: boolean;
}

/** A command line with its tree. */
export interface JudgedLine {
  readonly source: string;
  /** Absent for one command of plain words, which needs none. */
  readonly script: ParsedScript | undefined;
  /** Another shell than Bash reads it. */
  readonly posix: boolean;
}

/** Works out what a command line runs, wrappers and nested command lines included. Never throws. */
export function planShell(line: string, options: PlanShellOptions = {}): ShellPlan {
  const planner = new Planner(options);
  try {
    planner.line(line, { judged: true, depth: 0, folders: START, posix: options.posix === true });
  } catch {
    planner.giveUp(line);
  }
  return planner.plan;
}

/** Options of {@link planShell}. */
export interface PlanShellOptions {
  /** True to look for commands that may run besides, for deny and ask rules. Default true. */
  readonly guesses?: boolean;
  /** True when another shell than Bash reads the line. Default false. */
  readonly posix?: boolean;
}

interface Level {
  readonly judged: boolean;
  readonly depth: number;
  /** Another shell than Bash reads it. */
  readonly posix: boolean;
  /** Where it begins. */
  readonly folders: WorkFolders;
}

const MAX_DEPTH = 10;
/** Command lines read only for deny rules; more would be guessing. */
const MAX_GUESSES = 400;
const MAX_GUESSED_CHARS = 200_000;
/** Characters of a line with an obstacle, and of everything that was not read, that are cut roughly. */
const MAX_BROKEN = 20_000;
const MAX_ROUGH = 1_000_000;
/** Values of variables that commands are tried with, for deny rules. */
const MAX_VALUES = 20_000;
const TOO_MUCH = "it may run more than can be looked into";

class Planner {
  readonly #units: ShellUnit[] = [];
  readonly #redirects: ShellRedirect[] = [];
  readonly #obstacles: ShellObstacle[] = [];
  readonly #lines: JudgedLine[] = [];
  /** Lines, and commands with their values, that were looked at in case they run. */
  readonly #guessed = new Set<string>();
  readonly #guessedWords = new Set<string>();
  #guessCount = 0;
  #guessedChars = 0;
  /** Commands that were looked at with each value of a variable. */
  #valueCount = 0;
  #variables: KnownVariables = new VariableScope(new Map());
  readonly #guesses: boolean;
  #repeats = false;
  #roughLeft = MAX_ROUGH;
  #sink: ShellUnit[] = this.#units;

  constructor({ guesses = true }: PlanShellOptions) {
    this.#guesses = guesses;
  }

  get plan(): ShellPlan {
    return {
      units: this.#units,
      redirects: this.#redirects,
      obstacles: this.#obstacles,
      lines: this.#lines,
      variables: this.#variables,
      repeats: this.#repeats,
    };
  }

  line(line: string, level: Level): void {
    if (level.depth > MAX_DEPTH) {
      this.#obstacles.push({ part: line, reason: "it is nested too deeply to be read" });
      return;
    }
    const reading = readShell(line);
    const { script, obstacles } = reading;
    if (level.judged && (script !== undefined || obstacles.length === 0))
      this.#lines.push({ source: line, script, posix: level.posix });
    for (const each of reading.redirects)
      if (level.judged || each.writes)
        this.#redirects.push({ ...each, folders: foldersFrom(level.folders, each.folders) });
    if (level.judged) for (const obstacle of obstacles) this.#obstacles.push(obstacle);
    for (const { part, reason } of reading.changes) this.#change(part, reason, level);
    if (obstacles.length > 0) this.#roughly(line.slice(0, MAX_BROKEN), level);
    for (const text of reading.unread) this.#roughly(text, level);
    const outer = this.#variables;
    if (reading.variables.size > 0) this.#variables = new VariableScope(reading.variables, outer);
    this.#commands(reading.commands, level);
    if (level.depth > 0) this.#variables = outer;
  }

  /** The line is more than can be judged: only deny rules look at it any more. */
  giveUp(line: string): void {
    this.#obstacles.unshift({ part: line, reason: "it is too complex to be judged" });
    this.#roughly(line, { judged: false, depth: 0, folders: START, posix: false });
  }

  #change(part: string, reason: string, { judged }: Level): void {
    const text = part.replaceAll(/\s+/g, " ").trim();
    const guards = [{ from: 0, to: text.length, reason }];
    this.#sink.push({ ...NO_PROGRAM, text, guards, judged });
  }

  /** Finds texts that could be commands in one that was not read, for deny and ask rules. */
  #roughly(text: string, level: Level): void {
    if (!this.#guesses) return;
    for (const source of roughCommands(text.slice(0, this.#roughLeft))) {
      if (this.#guessed.has(source)) continue;
      this.#guessed.add(source);
      this.#words(bareCommand(plainWords(source), source), asGuess(level, level.folders));
    }
    this.#roughLeft = Math.max(0, this.#roughLeft - text.length);
  }

  /** Reads a text as a command line that deny and ask rules should know of. */
  #guess(text: string, level: Level): void {
    if (!this.#guesses || text.trim() === "" || this.#guessed.has(text)) return;
    this.#guessedChars += text.length;
    if (++this.#guessCount > MAX_GUESSES || this.#guessedChars > MAX_GUESSED_CHARS) {
      this.#tooMuch(text);
      return;
    }
    this.#guessed.add(text);
    this.line(text, asGuess(level, level.folders));
  }

  #commands(commands: readonly SimpleCommand[], level: Level): void {
    const seen = commands.length > 1 ? new Set<string>() : undefined;
    for (const command of commands)
      if (seen !== undefined && isRepeated(command, seen)) this.#repeats = true;
      else this.#words(command, level);
  }

  #words(command: SimpleCommand, level: Level): void {
    const { words, assignments } = command;
    const first = words[0];
    if (first === undefined) {
      const guards = assignmentGuards(assignments);
      this.#sink.push({ ...NO_PROGRAM, text: textOf(assignments), guards, judged: level.judged });
      return;
    }
    if (nameProblem(first) !== undefined) this.#guessResolved(command, level);
    const name = lastPart(first.text);
    const unwrapped = level.depth > MAX_DEPTH ? { unseen: "it is nested too deeply" } : unwrap(name, command);
    this.#sink.push(this.#unit(command, unwrapped, level));
    if (unwrapped !== undefined) this.#inside(name, command, { unwrapped, level });
    this.#guessInside(name, words, level);
    if (!words.every(isLiteral)) this.#guessResolved(command, level);
  }

  /** Reads the command that another one runs. */
  #inside(
    name: string,
    command: SimpleCommand,
    { unwrapped, level }: { readonly unwrapped: InnerCommand; readonly level: Level },
  ): void {
    const { words, file, folder, scripts = [], unseen } = unwrapped;
    const start = foldersFrom(level.folders, command.folders);
    const folders = folder === undefined ? start : foldersFrom(start, [folder]);
    const inner = { ...level, depth: level.depth + 1, folders };
    if (words !== undefined && file === undefined)
      this.#words({ ...command, words, assignments: [], folders: START }, inner);
    for (const script of scripts) {
      if (unseen === undefined)
        this.line(script, { ...inner, posix: level.posix || !READ_BY_BASH.has(name) });
      else this.#guess(script, { ...level, folders });
    }
  }

  #unit(command: SimpleCommand, unwrapped: InnerCommand | undefined, level: Level): ShellUnit {
    const { words, assignments } = command;
    const [first = literalWord("")] = words;
    const name = lastPart(first.text);
    const bare = textOf(words);
    const folders = foldersFrom(level.folders, command.folders);
    const plan = (program: readonly ShellWord[]): readonly ShellUnit[] =>
      this.#separately(program, { ...level, folders });
    return {
      text: assignments.length === 0 ? bare : `${textOf(assignments)} ${bare}`,
      name,
      words,
      guards: textGuards(command, { name, unwrapped, isChosen: this.#isChosen, plan }),
      judged: level.judged,
      folders,
      aliases: aliasesOf(first.text, bare, assignments.length > 0),
      unseen: unwrapped?.unseen ?? evaluates(name, words),
      blocked: nameProblem(first),
      globName: first.glob ? name : undefined,
    };
  }

  /** The units of a program that only a guard knows of. */
  #separately(words: readonly ShellWord[], level: Level): readonly ShellUnit[] {
    const outer = this.#sink;
    const units: ShellUnit[] = [];
    this.#sink = units;
    this.#words(bareCommand(words, textOf(words)), { ...level, depth: level.depth + 1 });
    this.#sink = outer;
    return units;
  }

  /** True when the line itself can choose what a word becomes. */
  readonly #isChosen = ({ names }: ShellWord): boolean =>
    names.some((name) => {
      if (/^(?:[@*!1-9]|\d\d+)$/.test(name)) return true;
      if (!this.#variables.has(name)) return false;
      const values = this.#variables.get(name);
      return (
        values?.every(({ text, literal, glob }) => (literal || glob) && !/^[-[?]|\s/.test(text)) !== true
      );
    });

  /** Guesses what programs that hand commands on (container, machine, alias) may run: deny and ask only. */
  #guessInside(name: string, words: readonly ShellWord[], level: Level): void {
    if (PASSING_PROGRAMS.has(name)) {
      let rest = resolvedText(words);
      for (let at = 1; at < Math.min(words.length, 8); at++) {
        rest = rest.slice((words[at - 1]?.resolved.length ?? 0) + 1);
        if (words[at]?.text.startsWith("-") === true) continue;
        this.#guess(rest, level);
        this.#guess(words[at]?.resolved ?? "", level);
      }
    }
    if (name !== "git") return;
    for (const { resolved } of words) {
      const at = resolved.indexOf("!");
      if (at !== -1 && /^(?:$|[\w.-]+=$)/.test(resolved.slice(0, at)))
        this.#guess(resolved.slice(at + 1), level);
    }
    const run = words.findIndex(({ text }) => text === "run" || text === "foreach");
    if (run !== -1) this.#guess(resolvedText(words.slice(run + 1)), level);
  }

  /** Deny rules see a command with its expansions resolved where known, with every value of a variable. */
  #guessResolved(command: SimpleCommand, level: Level): void {
    const { words } = command;
    if (!this.#guesses || words.length > 2000 || level.depth > MAX_DEPTH || words.every(isAsWritten)) return;
    this.#guessWords(argumentsFrom(words), command, level);
    const open = words.flatMap(({ names }) =>
      names.filter((name) => (this.#variables.get(name)?.length ?? 0) > 1),
    );
    if (open.length === 0) return;
    for (const name of new Set(open)) {
      const values = this.#variables.get(name) ?? [];
      if (++this.#valueCount * values.length > MAX_VALUES) return this.#tooMuch(command.source);
      const reference = new RegExp(`\\$(?:${name}(?!\\w)|\\{${name}\\})`, "g");
      for (const value of values) {
        const withValue = ({ text, literal }: ShellWord): ArgumentWord => ({
          literal,
          resolved: text.replaceAll(reference, () => value.resolved),
        });
        const tried = words.map((word) => (word.names.includes(name) ? withValue(word) : word));
        this.#guessWords(argumentsFrom(tried), command, level);
      }
    }
  }

  #guessWords(texts: readonly string[], { folders }: SimpleCommand, level: Level): void {
    const source = texts.join(" ");
    if (texts.length === 0 || this.#guessedWords.has(source)) return;
    this.#guessedWords.add(source);
    const command = bareCommand(texts.map(literalWord), source);
    this.#words(command, asGuess(level, foldersFrom(level.folders, folders)));
  }

  /** A deny rule could fit what is not looked at any more. */
  #tooMuch(part: string): void {
    if (this.#obstacles.at(-1)?.reason !== TOO_MUCH) this.#obstacles.push({ part, reason: TOO_MUCH });
  }
}

/** The level of what may run besides. */
function asGuess({ depth }: Level, folders: WorkFolders): Level {
  return { judged: false, depth: depth + 1, folders, posix: false };
}

/** True when a command that depends on nothing before it stands in the line already. */
function isRepeated(command: SimpleCommand, seen: Set<string>): boolean {
  if (command.folders !== START || !standsAlone(command)) return false;
  const { source, words } = command;
  const key = words.every(isLiteral) ? source : `${source}\0${resolvedText(words)}`;
  if (seen.has(key)) return true;
  seen.add(key);
  return false;
}

type ArgumentWord = Pick<ShellWord, "resolved" | "literal">;

/** The arguments that words come to, taken apart at blanks where the shell does so. */
function argumentsFrom(words: readonly ArgumentWord[]): readonly string[] {
  const pieces: string[] = [];
  for (const { resolved, literal } of words) {
    if (literal || !/\s/.test(resolved)) pieces.push(resolved);
    else for (const piece of resolved.split(/\s+/)) pieces.push(piece);
  }
  return pieces.includes("") ? pieces.filter((piece) => piece !== "") : pieces;
}

/** Commands that hand a line to Bash itself; whatever else runs one may take another shell. */
const READ_BY_BASH: ReadonlySet<string> = new Set(["bash", "eval", "trap", "alias"]);

const isLiteral = ({ literal }: ShellWord): boolean => literal;

function nameProblem(word: ShellWord): string | undefined {
  const fixed =
    word.literal ||
    (word.tilde && word.names.length + word.substitutions.length === 0 && !word.glob && !word.braces);
  if (word.text.startsWith("~") && !word.tilde) return "the name of the program begins with a quoted ~";
  if (!fixed || word.assigns !== undefined) return "the name of the program is not a literal word";
  if (word.text === "" || /\s/.test(word.text))
    return "the name of the program is empty or has a blank in it";
  return undefined;
}

function aliasesOf(name: string, bare: string, assigned: boolean): readonly string[] {
  const slash = name.lastIndexOf("/");
  if (slash === -1) return assigned ? [bare] : NO_ALIASES;
  return [bare, bare.slice(slash + 1)];
}

const NO_ALIASES: readonly string[] = [];
/** Commands that change the shell, and run no program. */
const NO_PROGRAM = {
  text: "",
  name: "",
  words: [],
  guards: [],
  judged: false,
  folders: START,
  aliases: NO_ALIASES,
  unseen: undefined,
  blocked: undefined,
  globName: undefined,
} satisfies ShellUnit;
