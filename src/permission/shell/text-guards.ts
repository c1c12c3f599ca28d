import { type IsChosen, programGuards } from "./program-guards.ts";
import { type ShellWord, type SimpleCommand, textAt } from "./shell-command.ts";
import type { ShellUnit, TextGuard } from "./shell-unit.ts";
import type { Unwrapped } from "./unwrapped.ts";
import { STATE_CHANGES } from "./wrappers.ts";

/** What the guards of a command depend on. */
export interface TextGuardOptions {
  /** The program, without its folder. */
  readonly name: string;
  readonly unwrapped: Unwrapped | undefined;
  readonly isChosen: IsChosen;
  /** Works out what a program runs that the command runs. */
  readonly plan: (program: readonly ShellWord[]) => readonly ShellUnit[];
}

/** The guards of a command's text: assignments, changes of the shell, files of commands, and options that run or write something. */
export function textGuards(command: SimpleCommand, options: TextGuardOptions): readonly TextGuard[] {
  const { words, assignments } = command;
  const { name, unwrapped, isChosen, plan } = options;
  const program = programGuards(name, words, isChosen);
  if (program.length === 0 && unwrapped === undefined && isUnguarded(name, command)) return NONE;
  const place = placesIn([...assignments, ...words], assignments.length);
  const guards = [...assignmentGuards(assignments), ...place.heads(unwrapped?.assigns ?? [])];
  if (STATE_CHANGES.has(name)) guards.push(place.guard(0, 1, `${name} changes the shell for what follows`));
  if (textAt(words, 0).split("/").includes("..")) guards.push(place.guard(0, 1, "the program's path climbs"));
  guards.push(...place.heads(riskyAssignments(words)));
  const file = unwrapped?.file;
  if (file !== undefined) {
    const guard = place.guard(file, file + 1, `${textAt(words, file)} is a file of commands`);
    guards.push({ ...guard, program: plan(unwrapped?.words ?? []) });
  }
  for (const { from, to, reason, program: run = [] } of program) {
    const guard = place.guard(from, to, reason);
    guards.push(run.length === 0 ? guard : { ...guard, program: plan(run) });
  }
  return guards;
}

const NONE: readonly TextGuard[] = [];

/** Whether a command that wraps nothing has no guard but those of its program: most commands, so it is found out first. */
function isUnguarded(name: string, { words, assignments }: SimpleCommand): boolean {
  return (
    assignments.length === 0 &&
    !STATE_CHANGES.has(name) &&
    !textAt(words, 0).includes("..") &&
    words.every(({ assigns }) => assigns === undefined)
  );
}

/** Guards of assignments that begin a command's text. */
export function assignmentGuards(assignments: readonly ShellWord[]): TextGuard[] {
  return placesIn(assignments, 0).heads(assignments.map((_, index) => index));
}

interface Places {
  /** A guard over whole words; of a long option only up to its value. */
  readonly guard: (from: number, to: number, reason: string) => TextGuard;
  /** Guards over the `NAME=` of words. */
  readonly heads: (indexes: readonly number[]) => TextGuard[];
}

/** Where words stand in their joined text; `offset` of them come before those that are counted. */
function placesIn(all: readonly ShellWord[], offset: number): Places {
  let starts: readonly number[] | undefined;
  const startOf = (index: number): number => (starts ??= startsOf(all))[index + offset] ?? 0;
  return {
    guard: (from, to, reason) => {
      const last = textAt(all, to - 1 + offset);
      const option = last.startsWith("--") && last.includes("=") && to === from + 1;
      const length = option ? last.indexOf("=") + 1 : last.length;
      return { from: startOf(from), to: startOf(to - 1) + length, words: [from, to], reason };
    },
    heads: (indexes) =>
      indexes.map((index) => {
        const text = textAt(all, index + offset);
        const head = text.slice(0, text.indexOf("=") + 1);
        const from = startOf(index);
        return { from, to: from + head.length, reason: `${head} sets a variable` };
      }),
  };
}

function startsOf(words: readonly ShellWord[]): readonly number[] {
  const starts: number[] = [];
  let at = 0;
  for (const { text } of words) {
    starts.push(at);
    at += text.length + 1;
  }
  return starts;
}

/** Variables that decide which programs run, or what programs do. */
const RISKY_VARIABLE =
  /^(?:PATH|IFS|ENV|HOME|SHELL|CDPATH|GLOBIGNORE|PS\d|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|.*_PAGER|BASH.*|LD_.*|DYLD_.*|GIT_.*|PYTHON.*|PERL.*|RUBY.*|NODE_.*|LESS.*|.*OPTIONS|.*OPTS|.*FLAGS|.*_proxy|.*_PROXY)$/;

function riskyAssignments(words: readonly ShellWord[]): readonly number[] {
  const risky: number[] = [];
  words.forEach(({ assigns }, index) => {
    if (index > 0 && assigns !== undefined && RISKY_VARIABLE.test(assigns)) risky.push(index);
  });
  return risky;
}
