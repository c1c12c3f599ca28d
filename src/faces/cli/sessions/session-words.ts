import { nearest } from "../../../core/base/text.ts";
import { usageError } from "../usage-error.ts";

/** Options of a word behind `sessions`: `flag` stands alone, `text` is followed by a value. */
export type SessionOptions = { readonly [option: string]: "flag" | "text" };

/** The words behind `nano-agent sessions NAME`, taken apart. */
export interface SessionWords {
  readonly words: readonly string[];
  readonly has: (option: string) => boolean;
  /** The value of an option, the last one where it is given several times. */
  readonly text: (option: string) => string | undefined;
  /** All values of an option. */
  readonly list: (option: string) => readonly string[];
}

/** Takes words apart. Throws `invalid_argument`, with `usage`, for an unknown option and for a value that is missing or too many. */
export function readSessionWords(
  args: readonly string[],
  {
    name,
    usage,
    options,
  }: { readonly name: string; readonly usage: string; readonly options: SessionOptions },
): SessionWords {
  const words: string[] = [];
  const values = new Map<string, string[]>();
  const fail = (what: string): Error =>
    usageError(`sessions ${name}: ${what}. Usage: nano-agent sessions ${usage}`);
  const rest = [...args];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") words.push(...rest.splice(0));
    else if (!word.startsWith("-") || word === "-") words.push(word);
    else {
      const { option, value } = readOption(word, rest, { options, fail });
      values.set(option, [...(values.get(option) ?? []), value]);
    }
  }
  return {
    words,
    has: (option) => values.has(option),
    text: (option) => values.get(option)?.at(-1),
    list: (option) => values.get(option) ?? [],
  };
}

/** An option and its value, which is behind a `=` or the next word. */
function readOption(
  word: string,
  rest: string[],
  { options, fail }: { readonly options: SessionOptions; readonly fail: (what: string) => Error },
): { readonly option: string; readonly value: string } {
  const at = word.indexOf("=");
  const option = at === -1 ? word : word.slice(0, at);
  const type = Object.hasOwn(options, option) ? options[option] : undefined;
  if (type === undefined) {
    const guess = nearest(option, Object.keys(options));
    throw fail(`does not know ${option}${guess === undefined ? "" : ` (did you mean ${guess}?)`}`);
  }
  if (type === "flag" && at !== -1) throw fail(`${option} takes no value`);
  if (type === "flag") return { option, value: "" };
  const value = at === -1 ? rest.shift() : word.slice(at + 1);
  if (value === undefined || value === "") throw fail(`${option} needs a value`);
  return { option, value };
}

/** A step number of the command line. Throws `invalid_argument` for what is no whole number from 1. */
export function stepNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError(
    `--from ${JSON.stringify(text)}: write the number of a step, from 1. nano-agent sessions show prints them.`,
  );
}
