import { parseArgs } from "node:util";
import { didYouMean } from "../../core/base/text.ts";

/** An option. One table makes what is read, the help, the completions and the reference. */
export interface CommandOption {
  /** As the help shows it: `-o, --output FILE`. */
  readonly form: string;
  readonly name: `--${string}`;
  readonly short: string | undefined;
  /** Placeholder of its value, in brackets where it may be left out; undefined where it takes none. */
  readonly value: string | undefined;
  readonly choices: readonly string[] | undefined;
  readonly help: string;
}

/**
 * Options with their help by their forms: `--json`, `-o, --output FILE`, `--resume [ID]`, and where only some
 * values may stand there, `--format json|html`.
 */
export function optionTable(table: { readonly [form: string]: string }): readonly CommandOption[] {
  return Object.entries(table).map(([form, help]) => {
    const words = form.split(" ");
    const short = form.startsWith("--") ? undefined : words.shift()?.replace(",", "");
    const name = words.shift() as CommandOption["name"];
    const value = words.length === 0 ? undefined : words.join(" ");
    // Placeholders are in capitals, values are not.
    const isClosed = value?.includes("|") === true && value === value.toLowerCase();
    return { form, name, short, value, choices: isClosed ? value.split("|") : undefined, help };
  });
}

/** A command line, taken apart. */
export interface ParsedOptions {
  readonly words: readonly string[];
  /** The words behind `--`. */
  readonly behind: readonly string[];
  readonly has: (option: `--${string}`) => boolean;
  /** The value of an option; the last one when it was given several times. */
  readonly text: (option: `--${string}`) => string | undefined;
  readonly list: (option: `--${string}`) => readonly string[];
}

/** Which options a command line may have, and how a mistake in it is told. */
export interface OptionReader {
  readonly options: readonly CommandOption[];
  readonly fail: (what: string) => Error;
}

/** Stands for a value that was left out. Nobody can type it: an empty value is a mistake. */
export const NO_VALUE = "\0";

/**
 * Takes a command line apart. Throws what `fail` makes for an unknown option (with the nearest one), a
 * missing or superfluous value, and one that is not among its choices.
 */
export function readOptions(args: readonly string[], table: OptionReader): ParsedOptions {
  const { options } = table;
  const { tokens } = parseArgs({
    args: withEmptyValues(args, options),
    options: Object.fromEntries(options.map((option) => [option.name.slice(2), parserOption(option)])),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const end = tokens.find(({ kind }) => kind === "option-terminator")?.index ?? Number.POSITIVE_INFINITY;
  const words: string[] = [];
  const behind: string[] = [];
  const values = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind === "positional") (token.index > end ? behind : words).push(token.value);
    if (token.kind !== "option") continue;
    const { name, value } = readOption(token, table);
    values.set(name, [...(values.get(name) ?? []), value]);
  }
  return {
    words,
    behind,
    has: (name) => values.has(name),
    text: (name) => values.get(name)?.at(-1),
    list: (name) => values.get(name) ?? [],
  };
}

/** One of some words. Throws what `fail` makes for another, with the nearest one. */
export function oneOf<const T extends string>(
  text: string,
  choices: readonly T[],
  { name, fail }: { readonly name: string; readonly fail: OptionReader["fail"] },
): T {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw fail(
    `${name} ${JSON.stringify(text)}: unknown.${didYouMean(text, choices)} One of: ${choices.join(", ")}.`,
  );
}

/** Writes out that an option with an optional value has none: at the end, or before another option. */
function withEmptyValues(args: readonly string[], options: readonly CommandOption[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, at) => {
    const option = optionAt(arg, options);
    if (option === undefined || !isOptional(option) || (end !== -1 && at > end)) return arg;
    const next = args[at + 1];
    return next === undefined || (next.startsWith("-") && next !== "-") ? `${option.name}=${NO_VALUE}` : arg;
  });
}

function optionAt(word: string, options: readonly CommandOption[]): CommandOption | undefined {
  return options.find(({ name, short }) => word === name || word === short);
}

function isOptional({ value }: CommandOption): boolean {
  return value?.startsWith("[") === true;
}

function parserOption({ value, short }: CommandOption): { type: "boolean" | "string"; short?: string } {
  const type = value === undefined ? "boolean" : "string";
  return { type, ...(short === undefined ? {} : { short: short.slice(1) }) };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function readOption(
  { name, rawName, value, inlineValue = false }: OptionToken,
  { options, fail }: OptionReader,
): { readonly name: string; readonly value: string } {
  const option = optionAt(`--${name}`, options);
  if (option === undefined) {
    const known = [...options.map((each) => each.name), "--help"];
    throw fail(`Unknown option ${rawName}.${didYouMean(rawName, known)}`);
  }
  if (option.value === undefined) {
    if (value === undefined) return { name: option.name, value: "" };
    throw fail(`${rawName} takes no value. Leave "=${value}" out.`);
  }
  if (isOptional(option)) {
    // Most likely a variable that is not set: taken as left out, it would go on with another session.
    if (value === "") throw fail(`${rawName} is followed by an empty text. Leave it out, or name a value.`);
    return { name: option.name, value: value ?? NO_VALUE };
  }
  // A value that is spelled like one of our options was most likely forgotten.
  if (value === undefined || (!inlineValue && optionAt(value, options) !== undefined))
    throw fail(`${rawName} needs a value: ${rawName} ${option.value}.`);
  if (option.choices !== undefined) oneOf(value, option.choices, { name: option.name, fail });
  return { name: option.name, value };
}
