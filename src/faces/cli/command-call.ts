import { invalidArgument } from "../../core/base/errors.ts";
import { didYouMean } from "../../core/base/text.ts";
import type { SessionStore } from "../../session/session-store.ts";
import type { CommandContext } from "./command-context.ts";
import {
  actionForm,
  type CommandAction,
  type CommandSpec,
  type ParsedOptions,
  RUN_OPTIONS,
  readOptions,
} from "./read-options.ts";
import { type RunFlags, readRunFlags } from "./run-flags.ts";

export type Command = (call: CommandCall) => Promise<number>;

/** The parsed words after a sub-command. */
export interface CommandCall extends ParsedOptions, CommandContext {
  /** Name of the action; `""` for a command that does one thing. */
  readonly action: string;
}

export interface SessionCall extends CommandCall {
  readonly store: SessionStore;
  readonly cwd: string;
}

/**
 * Parses the words after a sub-command by its table. Throws `invalid_argument`, with the nearest name and the
 * usage, for an unknown action or option, a missing value or one that is not among its choices, and too few
 * or too many words.
 */
export function readCommandCall(
  command: CommandSpec,
  args: readonly string[],
): Omit<CommandCall, keyof CommandContext> {
  const { action, rest } = chooseAction(command, args);
  const fail = (what: string): Error =>
    invalidArgument(
      `${actionTitle(command, action)}: ${what} Usage: nano-agent ${actionForm(command, action)}`,
    );
  const options = [...action.options, ...(action.runOptions === true ? RUN_OPTIONS : [])];
  const call = readOptions(rest, { options, fail });
  for (const { name, value } of options)
    if (value !== undefined && call.list(name).some((text) => text.trim() === ""))
      throw fail(`${name} needs a value: ${name} ${value}.`);
  const separatesPaths = action.afterDashes !== undefined;
  const words = separatesPaths ? call.words : [...call.words, ...call.afterDashes];
  assertCount(words, action, fail);
  return { ...call, action: action.name ?? "", words, afterDashes: separatesPaths ? call.afterDashes : [] };
}

/** Reads the run options given to a sub-command. Throws `invalid_argument` as a run does. */
export function runFlagsOf(call: ParsedOptions): RunFlags {
  return readRunFlags({ ...call, words: [], afterDashes: [] });
}

/** The whole numbers an option accepts, and their description. */
export interface NumberRange {
  readonly least: number;
  readonly most: number;
  /** Completes "write": `a port from 1 to 65535`. */
  readonly what: string;
}

/** The number given for an option; undefined without it. Throws `invalid_argument` if it is invalid. */
export function numberOf(
  call: CommandCall,
  name: `--${string}`,
  { least, most, what }: NumberRange,
): number | undefined {
  const text = call.text(name);
  if (text === undefined) return undefined;
  const number = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw invalidArgument(`${name} ${JSON.stringify(text)}: write ${what}.`);
}

export const PORT: NumberRange = {
  least: 0,
  most: 65_535,
  what: "a port from 1 to 65535, or 0 for a free one",
};

function actionTitle({ name }: CommandSpec, action: CommandAction): string {
  return action.name === undefined ? name : `${name} ${action.name}`;
}

function chooseAction(
  command: CommandSpec,
  args: readonly string[],
): { readonly action: CommandAction; readonly rest: readonly string[] } {
  const [first] = command.actions;
  const [word, ...rest] = args;
  if (first.name === undefined) {
    const named = command.actions.find(({ name }) => name !== undefined && name === word);
    return named === undefined ? { action: first, rest: args } : { action: named, rest };
  }
  // A bare command means `list`; any other action must be named.
  if ((word === undefined || word.startsWith("-")) && first.name === "list")
    return { action: first, rest: args };
  const action = command.actions.find(({ name }) => name === word);
  if (action !== undefined) return { action, rest };
  const names = command.actions.map(({ name = "" }) => name);
  const usage = `Write nano-agent ${command.name} ${names.join("|")}; nano-agent ${command.name} --help says more.`;
  if (word === undefined) throw invalidArgument(`${command.name} needs one more word. ${usage}`);
  throw invalidArgument(`${command.name} has no ${JSON.stringify(word)}.${didYouMean(word, names)} ${usage}`);
}

function assertCount(
  words: readonly string[],
  { words: places, afterDashes }: CommandAction,
  fail: (what: string) => Error,
): void {
  const least = places.filter((place) => !place.startsWith("[")).length;
  const isOpen = places.some((place) => place.includes("…"));
  if (words.length < least) throw fail(`It needs ${places.join(" ").replace("…", "")}.`);
  if (words.length <= places.length || isOpen) return;
  const paths = afterDashes === undefined ? "" : " Write paths after --.";
  throw fail(`${JSON.stringify(words[places.length])} is one word too many.${paths}`);
}
