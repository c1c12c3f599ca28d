import type { ParsedScript } from "unbash";

/** One word of a command after quote removal. */
export interface ShellWord {
  /** Quotes and escapes taken away; expansions stay as they were written. */
  readonly text: string;
  /** Nothing expands: the program gets exactly `text`. */
  readonly literal: boolean;
  /** Has an unquoted `*`, `?`, `[…]` or extended pattern. */
  readonly glob: boolean;
  /** Begins with an unquoted `~`. */
  readonly tilde: boolean;
  /** Braces that could not be expanded. */
  readonly braces: boolean;
  /** An unquoted expansion could make several words of it, or none. */
  readonly splits: boolean;
  /** Variables whose values become part of it; `!` for one that is named by another. */
  readonly names: readonly string[];
  /** The commands of its command substitutions, one list each. */
  readonly substitutions: readonly (readonly SimpleCommand[])[];
  /** `name=…` as the shell itself takes it apart (prefix, or argument of `export` and its like). */
  readonly assigns?: string;
  /** The word as it could be when resolved as far as the line itself tells: for deny rules only. */
  readonly resolved: string;
}

/**
 * Folders a command may run in, as paths from where the line starts (`""` is that place); `undefined` when
 * they cannot be told. More than one where `cd` may have failed, or only one branch has it.
 */
export type WorkFolders = readonly string[] | undefined;

/** A simple command: words, and what stands before them. */
export interface SimpleCommand {
  readonly words: readonly ShellWord[];
  readonly assignments: readonly ShellWord[];
  /** Texts that the line itself feeds to standard input (here-documents and here-strings). */
  readonly input: readonly string[];
  /** The commands before it in its pipeline. */
  readonly piped: readonly SimpleCommand[];
  /** Where it may run. */
  readonly folders: WorkFolders;
  /** As written, for people. */
  readonly source: string;
}

/** A file that the shell opens for a command. */
export interface ShellRedirect {
  readonly target: ShellWord;
  readonly writes: boolean;
  /** Where its path may start. */
  readonly folders: WorkFolders;
  /** As written, for people. */
  readonly source: string;
}

/** A place where the line does something no rule on a command can cover. */
export interface ShellObstacle {
  readonly part: string;
  readonly reason: string;
}

/** The possible values of a variable that the line itself sets, or `undefined` when nothing is known. */
export type VariableValues = readonly ShellWord[] | undefined;

/** Everything a command line does, taken apart. */
export interface ShellReading {
  readonly commands: readonly SimpleCommand[];
  readonly redirects: readonly ShellRedirect[];
  readonly obstacles: readonly ShellObstacle[];
  /** Function definitions and other changes of the shell, as written: only a rule in full covers them. */
  readonly changes: readonly ShellObstacle[];
  /** Texts that run and were not read, each with its obstacle. */
  readonly unread: readonly string[];
  /** Variables the line sets. */
  readonly variables: ReadonlyMap<string, VariableValues>;
  /** The tree it was read from; absent where there is none. */
  readonly script?: ParsedScript;
}

/** A word that is only text. */
export function literalWord(text: string): ShellWord {
  return {
    text,
    literal: true,
    glob: false,
    tilde: false,
    braces: false,
    splits: false,
    names: NONE,
    substitutions: NONE,
    resolved: text,
  };
}

/** Long lines have tens of thousands of words, so what is empty is shared. */
const NONE: readonly never[] = [];

/** A list that has grown, in no more room than it needs. */
export function compact<Item>(list: readonly Item[]): readonly Item[] {
  return list.length === 0 ? NONE : list.slice();
}

/** The text of a word, empty behind the last one. */
export function textAt(words: readonly ShellWord[], index: number): string {
  return words[index]?.text ?? "";
}

/** True when a word is, as far as the line tells, what stands there. */
export function isAsWritten({ text, resolved }: ShellWord): boolean {
  return text === resolved;
}

/** The words joined by one blank. */
export function textOf(words: readonly ShellWord[]): string {
  let text = textAt(words, 0);
  for (let index = 1; index < words.length; index++) text += ` ${textAt(words, index)}`;
  return text;
}

/** The words joined by one blank, resolved as far as the line tells. */
export function resolvedText(words: readonly ShellWord[]): string {
  return words.map(({ resolved }) => resolved).join(" ");
}

/** True when nothing that stands before a command decides what it does. */
export function standsAlone({ words, assignments, piped, input }: SimpleCommand): boolean {
  return (
    assignments.length + piped.length + input.length === 0 && words.every(({ names }) => names.length === 0)
  );
}

/** Variables that a command line, or one that it is part of, sets. */
export interface KnownVariables {
  /** True when the line sets it. */
  has(name: string): boolean;
  /** Its possible values; `undefined` when they are not known. */
  get(name: string): VariableValues;
}

/** A nested line's variables before those around it. Costs nothing to make, however many there are. */
export class VariableScope implements KnownVariables {
  readonly #own: ReadonlyMap<string, VariableValues>;
  readonly #outer: KnownVariables | undefined;

  constructor(own: ReadonlyMap<string, VariableValues>, outer?: KnownVariables) {
    this.#own = own;
    this.#outer = outer;
  }

  has(name: string): boolean {
    return this.#own.has(name) || this.#outer?.has(name) === true;
  }

  get(name: string): VariableValues {
    return this.#own.has(name) ? this.#own.get(name) : this.#outer?.get(name);
  }
}
