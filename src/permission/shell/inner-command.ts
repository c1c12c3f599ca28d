import { type FoundOption, readOptions } from "./option-reader.ts";
import { resolvedText, type ShellWord } from "./shell-command.ts";
import type { Wrapper } from "./wrappers.ts";

/** The command inside a wrapper. */
export interface InnerCommand {
  /** The program it runs, with its arguments. */
  readonly words?: readonly ShellWord[];
  /** Command lines it hands to a shell. */
  readonly scripts?: readonly string[];
  /** Why nobody can see (all of) what it runs. */
  readonly unseen?: string;
  /** Words that are assignments. */
  readonly assigns?: readonly number[];
  /** The folder that {@link words} run in, from where the wrapper runs. */
  readonly folder?: string | undefined;
  /** Words that name a file of commands: `bash build.sh`. */
  readonly file?: number;
}

/** A wrapper whose program is unknown: it may begin at any word from `from` on. `unseen` says why. */
export function unseenFrom(words: readonly ShellWord[], from: number, unseen: string): InnerCommand {
  const scripts: string[] = [];
  const long = words.length > 200;
  const count = long ? 2 : 16;
  for (let at = from; at < words.length && scripts.length < count; at++) {
    const text = words[at]?.resolved ?? "";
    // An option may hold the command line, attached or behind a `=`.
    if (text.startsWith("-")) {
      if (/\s/.test(text)) scripts.push(text.slice(text.startsWith("--") ? text.indexOf("=") + 1 : 2));
      continue;
    }
    scripts.push(resolvedText(words.slice(at, at + (long ? 500 : 200))));
    if (words[at]?.text.includes(" ") === true) scripts.push(words[at]?.resolved ?? "");
  }
  return { unseen, scripts };
}

/** The words of a wrapper, sorted. */
export interface WrapperWords {
  readonly options: readonly FoundOption[];
  /** Indexes of the words behind its options, the program with its arguments among them. */
  readonly operands: readonly number[];
  /** Words that are command lines. */
  readonly scripts: readonly ShellWord[];
  /** Index of an option nobody knows, or of a word that may become one. */
  readonly unknown: number | undefined;
  /** Nothing is run with these options. */
  readonly looksUp: boolean;
}

/** Sorts the words of a wrapper. */
export function readWrapper(words: readonly ShellWord[], wrapper: Wrapper): WrapperWords {
  const { options, operands: all, unknown } = readOptions(words, wrapper);
  // `env - …` is an option too.
  const operands = words[all[0] ?? 0]?.text === "-" ? all.slice(1) : all;
  const scripts = options.flatMap(({ name, value }) =>
    value !== undefined && wrapper.script.includes(name) ? [value] : [],
  );
  const open = operands.find((index) => words[index]?.literal !== true);
  const first = unknown[0] ?? (open === operands[0] ? open : undefined);
  const looksUp = first === undefined && options.some(({ name }) => wrapper.looksUp.includes(name));
  return { options, operands, scripts, unknown: first, looksUp };
}
