import { nearest } from "../../core/base/text.ts";
import type { CommandContext } from "./command-context.ts";
import {
  actionForm,
  type CommandAction,
  type CommandOption,
  type CommandSpec,
  RUN_OPTIONS,
} from "./command-spec.ts";
import { type RunFlags, readRunFlags } from "./run-flags.ts";
import { usageError } from "./usage-error.ts";

/** Does the work of a sub-command. Resolves to the exit code. */
export type Command = (context: CommandContext, call: CommandCall) => Promise<number>;

/** The words behind a sub-command, taken apart. */
export interface CommandCall {
  /** Name of the action; `""` for a command that does one thing. */
  readonly action: string;
  readonly words: readonly string[];
  /** What stands behind `--`, where the action takes that apart from its words. */
  readonly behind: readonly string[];
  readonly has: (option: `--${string}`) => boolean;
  /** The value of an option, the last one where it is given several times. */
  readonly text: (option: `--${string}`) => string | undefined;
  /** All values of an option. */
  readonly list: (option: `--${string}`) => readonly string[];
}

/**
 * Takes the words behind a sub-command apart by its table. Throws `invalid_argument`, with the nearest name and the usage, for an action
 * or option it does not have, a value that is missing or not among its choices, and too few or too many words.
 */
export function readCommandCall(command: CommandSpec, args: readonly string[]): CommandCall {
  const { action, rest } = chooseAction(command, args);
  const fail = (what: string): Error =>
    usageError(`${title(command, action)} ${what} Usage: nano-agent ${actionForm(command, action)}`);
  const options = [...(action.options ?? []), ...(action.runOptions === true ? RUN_OPTIONS : [])];
  const words: string[] = [];
  const behind: string[] = [];
  const values = new Map<string, string[]>();
  const queue = [...rest];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === "--") (action.behind === undefined ? words : behind).push(...queue.splice(0));
    else if (!word.startsWith("-") || word === "-") words.push(word);
    else {
      const { name, value } = readOption(word, queue, { options, fail });
      values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  assertCount(words, action, fail);
  return {
    action: action.name ?? "",
    words,
    behind,
    has: (option) => values.has(option),
    text: (option) => values.get(option)?.at(-1),
    list: (option) => values.get(option) ?? [],
  };
}

/** The options of a run that were given to a sub-command that takes them. Throws `invalid_argument` as a run does. */
export function runFlagsOf({ has, text, list }: CommandCall): RunFlags {
  return readRunFlags({
    words: [],
    has: (name) => has(`--${name}`),
    text: (name) => text(`--${name}`),
    list: (name) => list(`--${name}`),
  });
}

/** `sessions export`, or `undo` for a command that does one thing. */
function title({ name }: CommandSpec, action: CommandAction): string {
  return action.name === undefined ? name : `${name} ${action.name}`;
}

function chooseAction(
  command: CommandSpec,
  args: readonly string[],
): { readonly action: CommandAction; readonly rest: readonly string[] } {
  const [first] = command.actions;
  if (first.name === undefined) return { action: first, rest: args };
  const [word, ...rest] = args;
  // `list` is what a bare command shows; anything else has to be named.
  if ((word === undefined || word.startsWith("-")) && first.name === "list")
    return { action: first, rest: args };
  const action = command.actions.find(({ name }) => name === word);
  if (action !== undefined) return { action, rest };
  const names = command.actions.map(({ name = "" }) => name);
  const usage = `Write nano-agent ${command.name} ${names.join("|")}; nano-agent ${command.name} --help says more.`;
  if (word === undefined) throw usageError(`${command.name} needs one more word. ${usage}`);
  const guess = nearest(word, names);
  const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
  throw usageError(`${command.name} has no ${JSON.stringify(word)}.${hint} ${usage}`);
}

interface OptionPlace {
  readonly options: readonly CommandOption[];
  readonly fail: (what: string) => Error;
}

/** An option and its value, which stands behind a `=` or is the next word. */
function readOption(
  word: string,
  queue: string[],
  { options, fail }: OptionPlace,
): { readonly name: string; readonly value: string } {
  const [, given = word, inline] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
  const option = options.find(({ name, short }) => given === name || given === short);
  if (option === undefined) {
    const guess = nearest(given, [...options.map(({ name }) => name), "--help"]);
    throw fail(`does not know ${given}.${guess === undefined ? "" : ` Did you mean ${guess}?`}`);
  }
  const { name, choices } = option;
  if (option.value === undefined) {
    if (inline !== undefined) throw fail(`takes no value for ${name}.`);
    return { name, value: "" };
  }
  const value = inline ?? queue.shift();
  if (value === undefined || value.trim() === "") throw fail(`needs a value for ${name}.`);
  if (choices !== undefined && !choices.includes(value)) {
    const guess = nearest(value, choices);
    const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
    throw fail(`does not know ${name} ${JSON.stringify(value)}.${hint}`);
  }
  return { name, value };
}

function assertCount(words: readonly string[], action: CommandAction, fail: (what: string) => Error): void {
  const { least, most } = wordCount(action);
  if (words.length < least) throw fail(`needs ${(action.words ?? "").replace("…", "")}.`);
  if (words.length <= most) return;
  const behind = action.behind === undefined ? "" : ` Write paths behind --.`;
  throw fail(`got ${JSON.stringify(words[most])}, which is one word too many.${behind}`);
}

/** How many words an action takes, from its placeholders. */
function wordCount({ words = "" }: CommandAction): { readonly least: number; readonly most: number } {
  const places = words.split(" ").filter((place) => place !== "");
  const least = places.filter((place) => !place.startsWith("[")).length;
  return {
    least,
    most: places.some((place) => place.includes("…")) ? Number.POSITIVE_INFINITY : places.length,
  };
}
