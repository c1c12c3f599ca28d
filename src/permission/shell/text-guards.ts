import type { InnerCommand } from "./inner-command.ts";
import { type IsChosen, programGuards } from "./program-guards.ts";
import { type ShellWord, type SimpleCommand, textAt } from "./shell-command.ts";
import type { ShellUnit, TextGuard, WordGuard } from "./shell-unit.ts";
import { isRiskyVariable } from "./variable-names.ts";
import { STATE_CHANGES } from "./wrappers.ts";

/** The facts that the guards of a command depend on. */
export interface TextGuardOptions {
  /** The program, without its folder. */
  readonly name: string;
  readonly unwrapped: InnerCommand | undefined;
  readonly isChosen: IsChosen;
  /** Works out what a program runs that the command runs. */
  readonly plan: (program: readonly ShellWord[]) => readonly ShellUnit[];
}

/** The guards of a command's text: assignments, shell changes, command files, options that run or write. */
export function textGuards(command: SimpleCommand, options: TextGuardOptions): readonly TextGuard[] {
  const { words, assignments } = command;
  const { name, unwrapped, isChosen, plan } = options;
  const program = programGuards(name, words, isChosen);
  if (program.length === 0 && !isGuardedWrapper(unwrapped) && isUnguarded(name, command)) return NONE;
  const place = new Places(command);
  const guards = [...assignmentGuards(assignments), ...headGuards(place, unwrapped?.assigns)];
  if (STATE_CHANGES.has(name)) {
    guards.push(place.guard(0, 1, `${name} changes the shell for what follows`));
    for (const index of riskyNames(words))
      guards.push(place.guard(index, index + 1, `${name} may set ${textAt(words, index)}`));
  }
  if (textAt(words, 0).split("/").includes("..")) guards.push(place.guard(0, 1, "the program's path climbs"));
  guards.push(...headGuards(place, riskyAssignments(words)));
  const file = unwrapped?.file;
  if (file !== undefined) {
    const guard = place.guard(file, file + 1, `${textAt(words, file)} is a file of commands`);
    guards.push({ ...guard, program: plan(unwrapped?.words ?? []) });
  }
  for (const each of program) guards.push(programGuard(each, place, plan));
  return guards;
}

/** The guard of an option; with the program it runs, where the words show that. */
function programGuard(
  { from, to, reason, program = [], elsewhere = false }: WordGuard,
  place: Places,
  plan: TextGuardOptions["plan"],
): TextGuard {
  const guard = place.guard(from, to, reason);
  if (program.length === 0) return guard;
  const units = plan(program);
  return { ...guard, program: elsewhere ? units.map((unit) => ({ ...unit, elsewhere })) : units };
}

function headGuards(place: Places, indexes: readonly number[] = NONE): readonly TextGuard[] {
  return indexes.length === 0 ? NONE : indexes.map((index) => place.head(index));
}

const NONE: readonly never[] = [];

function isGuardedWrapper(unwrapped: InnerCommand | undefined): boolean {
  return unwrapped?.file !== undefined || (unwrapped?.assigns?.length ?? 0) > 0;
}

/** True when only its program and what it wraps guard a command: true for most, so found out first. */
function isUnguarded(name: string, { words, assignments }: SimpleCommand): boolean {
  return (
    assignments.length === 0 &&
    !STATE_CHANGES.has(name) &&
    !textAt(words, 0).includes("..") &&
    words.every(({ assigns }) => assigns === undefined)
  );
}

/** Guards of assignments that begin a command's text. */
export function assignmentGuards(assignments: readonly ShellWord[]): readonly TextGuard[] {
  let from = 0;
  return assignments.map(({ text }) => {
    const guard = headGuard(text, from);
    from += text.length + 1;
    return guard;
  });
}

function headGuard(text: string, from: number): TextGuard {
  const head = text.slice(0, text.indexOf("=") + 1);
  return { from, to: from + head.length, reason: `${head} sets a variable` };
}

/** Where the words of a command stand in its text, which its assignments begin. */
class Places {
  readonly #assignments: readonly ShellWord[];
  readonly #words: readonly ShellWord[];
  #starts: readonly number[] | undefined;

  constructor({ assignments, words }: SimpleCommand) {
    this.#assignments = assignments;
    this.#words = words;
  }

  /** A guard over whole words; of a long option only up to its value. */
  guard(from: number, to: number, reason: string): TextGuard {
    const last = textAt(this.#words, to - 1);
    const option = last.startsWith("--") && last.includes("=") && to === from + 1;
    const length = option ? last.indexOf("=") + 1 : last.length;
    return { from: this.#start(from), to: this.#start(to - 1) + length, words: [from, to], reason };
  }

  /** A guard over the `NAME=` of a word. */
  head(index: number): TextGuard {
    return headGuard(textAt(this.#words, index), this.#start(index));
  }

  #start(index: number): number {
    this.#starts ??= startsOf(this.#words, startAfter(this.#assignments));
    return this.#starts[index] ?? 0;
  }
}

function startAfter(words: readonly ShellWord[]): number {
  let at = 0;
  for (const { text } of words) at += text.length + 1;
  return at;
}

function startsOf(words: readonly ShellWord[], first: number): readonly number[] {
  let at = first;
  return words.map(({ text }) => {
    const start = at;
    at += text.length + 1;
    return start;
  });
}

function riskyAssignments(words: readonly ShellWord[]): readonly number[] {
  const risky: number[] = [];
  words.forEach(({ assigns }, index) => {
    if (index > 0 && assigns !== undefined && isRiskyVariable(assigns)) risky.push(index);
  });
  return risky;
}

/** Variables that a builtin is given the names of. */
function riskyNames(words: readonly ShellWord[]): readonly number[] {
  return words.flatMap(({ text, assigns }, index) =>
    index > 0 && assigns === undefined && isRiskyVariable(text) ? [index] : [],
  );
}
