import { type OptionTable, readOptions } from "./option-reader.ts";
import type { ShellWord } from "./shell-command.ts";
import type { Wrapper } from "./wrappers.ts";

/** The words of a wrapper, sorted. */
export interface WrapperWords {
  /** Indexes of the words behind its options, the program with its arguments among them. */
  readonly operands: readonly number[];
  /** Words that are command lines. */
  readonly scripts: readonly ShellWord[];
  /** The folder that the program runs in, where an option names one. */
  readonly folder?: ShellWord;
  /** Index of an option nobody knows, or of a word that may become one. */
  readonly unknown?: number;
  /** Nothing is run with these options. */
  readonly looksUp?: true;
}

/** Sorts the words of a wrapper. */
export function readWrapper(words: readonly ShellWord[], wrapper: Wrapper): WrapperWords {
  const table: OptionTable = { ...wrapper, long: `${wrapper.long ?? ""} help version` };
  const {
    options,
    operands: all,
    unknown,
  } = readOptions(words, table, { ordered: wrapper.permutes !== true });
  // `env - …` is an option too.
  const operands = words[all[0] ?? 0]?.text === "-" ? all.slice(1) : all;
  const scripts = options.flatMap(({ name, value }) =>
    value !== undefined && wrapper.script?.includes(name) === true ? [value] : [],
  );
  const open = operands.find((index) => words[index]?.literal !== true);
  const first = unknown[0] ?? (open === operands[0] ? open : undefined);
  const folder = options.findLast(({ name }) => wrapper.folder?.includes(name) === true)?.value;
  const found = { operands, scripts, ...(folder === undefined ? {} : { folder }) };
  if (first !== undefined) return { ...found, unknown: first };
  const looksUp = ["--help", "--version", ...(wrapper.looksUp ?? [])];
  return options.some(({ name }) => looksUp.includes(name)) ? { ...found, looksUp: true } : found;
}
