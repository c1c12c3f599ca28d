import { resolvedText, type ShellWord } from "./shell-command.ts";

/** What a wrapper runs. */
export interface Unwrapped {
  /** The program it runs, with its arguments. */
  readonly words?: readonly ShellWord[];
  /** Command lines it hands to a shell. */
  readonly scripts?: readonly string[];
  /** Why nobody can see (all of) what it runs. */
  readonly unseen?: string;
  /** Words that are assignments. */
  readonly assigns?: readonly number[];
  /** The folder that {@link words} run in, from where the wrapper runs. */
  readonly folder?: string;
  /** Words that name a file of commands: `bash build.sh`. */
  readonly file?: number;
}

/** A wrapper whose program cannot be told: every word from `from` on could be where it begins. `unseen` says why. */
export function unseenFrom(words: readonly ShellWord[], from: number, unseen: string): Unwrapped {
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
