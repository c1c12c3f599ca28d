import { awkEffect } from "./awk-script.ts";
import { type OptionTable, optionTable, readOptions } from "./option-reader.ts";
import { sedEffect } from "./sed-script.ts";
import { literalWord, type ShellWord } from "./shell-command.ts";

/** A program that is given programs in its own language, with all options that run and write nothing. */
export interface ScriptProgram extends OptionTable {
  /** Options whose value is a script; without one of them the first operand is. */
  readonly scripts: readonly string[];
  /** The effect of a script beside printing. */
  readonly effect: (script: string) => "none" | "reads" | "runs";
}

const SED: ScriptProgram = {
  ...optionTable(`
    -nErsuz -e= quiet silent regexp-extended separate unbuffered null-data posix debug sandbox expression=
    help version`),
  scripts: ["-e", "--expression"],
  effect: sedEffect,
};
const AWK: ScriptProgram = {
  ...optionTable("-Fv= field-separator= assign= help version", "ordered"),
  scripts: [],
  effect: awkEffect,
};

/** Those programs by name. */
export const SCRIPT_PROGRAMS: ReadonlyMap<string, ScriptProgram> = new Map([
  ["sed", SED],
  ["gsed", SED],
  ["awk", AWK],
  ["gawk", AWK],
  ["mawk", AWK],
  ["nawk", AWK],
]);

/** A script, and the words it stands in. */
export interface FoundScript {
  readonly from: number;
  readonly to: number;
  readonly script: ShellWord;
}

/** The words of sed or awk, sorted. */
export interface ScriptWords {
  readonly scripts: readonly FoundScript[];
  /** Words that are files. */
  readonly files: readonly ShellWord[];
  /** Those of them, and of the scripts, that a `--` does not keep from being options. */
  readonly open: readonly ShellWord[];
  /** Indexes of words that are no option known here. */
  readonly unknown: readonly number[];
}

/** Finds the scripts among the words of a command. */
export function readScripts(program: ScriptProgram, words: readonly ShellWord[]): ScriptWords {
  const { options, operands, unknown, open } = readOptions(words, program);
  const given = options.flatMap(({ name, from, to, value }): readonly FoundScript[] =>
    value !== undefined && program.scripts.includes(name) ? [{ from, to, script: value }] : [],
  );
  const first = operands[0];
  const own = given.length > 0 || first === undefined;
  return {
    scripts: own ? given : [{ from: first, to: first + 1, script: words[first] ?? literalWord("") }],
    files: operands.slice(own ? 0 : 1).map((index) => words[index] ?? literalWord("")),
    open: open.flatMap((index) => words[index] ?? []),
    unknown,
  };
}

/** The worst that any of the scripts does; one that is not all there in the line `runs`. */
export function worstEffect(
  { effect }: ScriptProgram,
  scripts: readonly FoundScript[],
): "none" | "reads" | "runs" {
  const effects = scripts.map(({ script }) => (script.literal ? effect(script.text) : "runs"));
  return effects.includes("runs") ? "runs" : effects.includes("reads") ? "reads" : "none";
}
