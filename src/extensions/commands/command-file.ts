import type { Origin } from "../markdown/origin.ts";

/** A prompt kept in a file, which a person calls by its name: `/review src`. */
export interface CommandFile {
  /** Path below its folder without the ending, `:` between folders: `git:commit`, called as `/git:commit`. */
  readonly name: string;
  readonly description: string;
  /** What to show behind the name: `[file]`. */
  readonly argumentHint?: string;
  /** Permission rules that hold while it runs. Left out where the project is not trusted. */
  readonly allowedTools: readonly string[];
  /** Model to run it with. */
  readonly model?: string;
  /** Subagent to run it with. */
  readonly agent?: string;
  readonly origin: Origin;
  readonly path: string;
  /** The text behind the front matter. */
  readonly body: string;
  /** Whether its `` !`command` `` parts may run. */
  readonly mayRun: boolean;
}

/** A prompt that calls a command: its name without `/`, and the text behind it. */
export interface CommandCall {
  readonly name: string;
  readonly args: string;
}

/** Reads a prompt as a call: `/name` or `/folder:name` at its very beginning, then arguments. */
export function parseCommandCall(prompt: string): CommandCall | undefined {
  const [, name, args = ""] =
    /^\/([\p{L}\p{N}_][\p{L}\p{N}_.:-]*)(?:\s+([\s\S]*))?$/u.exec(prompt.trimEnd()) ?? [];
  return name === undefined ? undefined : { name, args: args.trim() };
}
