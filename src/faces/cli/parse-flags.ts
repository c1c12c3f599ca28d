import { parseArgs } from "node:util";
import { nearest } from "../../core/base/text.ts";
import { FLAGS, type FlagName, type FlagSpec } from "./flags.ts";
import { usageError } from "./usage-error.ts";

/** A command line, taken apart. */
export interface ParsedFlags {
  readonly words: readonly string[];
  /** Whether an option without a value was given. */
  readonly has: (name: FlagName) => boolean;
  /** The value of an option; the last one when it was given several times. */
  readonly text: (name: FlagName) => string | undefined;
  /** All values of an option, in order. */
  readonly list: (name: string) => readonly string[];
}

/**
 * Takes a command line apart. Throws `invalid_argument` for an unknown option (with the nearest one), a
 * missing or superfluous value.
 */
export function parseFlags(args: readonly string[]): ParsedFlags {
  const { tokens, positionals } = parseArgs({
    args: withEmptyValues(args),
    options: parserOptions(),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const values = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const flag = FLAGS.find(({ name }) => name === token.name);
    if (flag === undefined) throw unknownFlag(token.rawName);
    const value = valueOf(flag, token);
    values.set(flag.name, [...(values.get(flag.name) ?? []), value]);
  }
  return {
    words: positionals,
    has: (name) => values.has(name),
    text: (name) => values.get(name)?.at(-1),
    list: (name) => values.get(name) ?? [],
  };
}

/**
 * What an option has whose value was left out. Nobody can type it: an empty value (`--resume=$ID`) is a
 * mistake, not this.
 */
export const NO_VALUE = "\0";

/** Writes out that an option with an optional value has none: at the end, or before another option. */
function withEmptyValues(args: readonly string[]): string[] {
  const end = args.indexOf("--");
  return args.map((arg, at) => {
    const flag = FLAGS.find(
      ({ name, short }) => arg === `--${name}` || (short !== undefined && arg === `-${short}`),
    );
    if (flag?.type !== "optional" || (end !== -1 && at > end)) return arg;
    const next = args[at + 1];
    return next === undefined || (next.startsWith("-") && next !== "-") ? `--${flag.name}=${NO_VALUE}` : arg;
  });
}

type ParserOption = { type: "boolean" | "string"; short?: string };

function parserOptions(): Record<string, ParserOption> {
  const options: Record<string, ParserOption> = {};
  for (const { name, type, short } of FLAGS)
    options[name] = {
      type: type === "boolean" ? "boolean" : "string",
      ...(short === undefined ? {} : { short }),
    };
  return options;
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function valueOf(flag: FlagSpec, token: OptionToken): string {
  if (flag.type === "boolean") {
    if (token.value !== undefined)
      throw usageError(`${token.rawName} takes no value. Leave "=${token.value}" out.`);
    return "";
  }
  if (flag.type === "optional") {
    // Most likely a variable that is not set: to take it for a value left out would go on with another
    // session.
    if (token.value === "")
      throw usageError(`${token.rawName} is followed by an empty text. Leave it out, or name a value.`);
    return token.value ?? NO_VALUE;
  }
  const missing = token.value === undefined || (token.inlineValue !== true && isFlag(token.value));
  if (missing) throw usageError(`${token.rawName} needs a value: ${token.rawName} ${flag.value ?? "VALUE"}.`);
  return token.value ?? "";
}

/** A value that is spelled like one of our options was most likely forgotten. */
function isFlag(text: string): boolean {
  return FLAGS.some(
    ({ name, short }) => text === `--${name}` || (short !== undefined && text === `-${short}`),
  );
}

function unknownFlag(rawName: string): Error {
  const guess = nearest(
    rawName,
    FLAGS.map((flag) => `--${flag.name}`),
  );
  const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
  const list = FLAGS.map((flag) => `--${flag.name}`).join(" ");
  return usageError(`Unknown option ${rawName}.${hint} Options: ${list}. See nano-agent --help.`);
}
