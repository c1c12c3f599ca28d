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
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "--") {
      words.push(...args.slice(at + 1));
      break;
    }
    if (!word.startsWith("-") || word === "-") {
      words.push(word);
      continue;
    }
    const [option = "", ...rest] = word.split("=");
    const type = Object.hasOwn(options, option) ? options[option] : undefined;
    if (type === undefined) {
      const guess = nearest(option, Object.keys(options));
      throw fail(`does not know ${option}${guess === undefined ? "" : `; did you mean ${guess}?`}`);
    }
    let value = rest.length > 0 ? rest.join("=") : undefined;
    if (type === "flag" && value !== undefined) throw fail(`${option} takes no value`);
    if (type === "text") value ??= args[++at];
    if (type === "text" && (value === undefined || value === "")) throw fail(`${option} needs a value`);
    values.set(option, [...(values.get(option) ?? []), value ?? ""]);
  }
  return {
    words,
    has: (option) => values.has(option),
    text: (option) => values.get(option)?.at(-1),
    list: (option) => values.get(option) ?? [],
  };
}

/** A step number of the command line. Throws `invalid_argument` for what is no whole number from 1. */
export function stepNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usageError(
    `--from ${JSON.stringify(text)}: write the number of a step, from 1. nano-agent sessions show prints them.`,
  );
}
