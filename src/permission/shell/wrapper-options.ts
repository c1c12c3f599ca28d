import { literalWord, type ShellWord } from "./shell-command.ts";
import type { Wrapper } from "./wrappers.ts";

/** Where the options of a wrapper end. */
export interface OptionEnd {
  /** Index of the first word that is no option, or of one that cannot be read. */
  readonly at: number;
  /** Command lines among the options. */
  readonly scripts: readonly string[];
  /** An option nobody knows, or one that cannot be read. */
  readonly unknown?: string;
  /** Nothing is run with these options. */
  readonly looksUp?: true;
}

/** Reads the options of a wrapper, from the second word on. */
export function readOptions(words: readonly ShellWord[], wrapper: Wrapper): OptionEnd {
  const scripts: string[] = [];
  for (let at = 1; at < words.length; at++) {
    const { text, literal } = words[at] ?? literalWord("");
    if (!literal) return { at, scripts, unknown: text };
    if (!text.startsWith("-")) return { at, scripts };
    if (text === "--") return { at: at + 1, scripts };
    if (looksUp(text, wrapper)) return { at: words.length, scripts, looksUp: true };
    const script = scriptOption(text, words[at + 1], wrapper);
    const taken = script?.taken ?? optionLength(text, wrapper);
    if (taken === undefined || script?.value === null) return { at, scripts, unknown: text };
    if (script !== undefined) scripts.push(script.value);
    at += taken - 1;
  }
  return { at: words.length, scripts };
}

function looksUp(text: string, wrapper: Wrapper): boolean {
  return text === "--help" || text === "--version" || wrapper.looksUp?.includes(text) === true;
}

/** An option whose value is a command line; `null` where the value cannot be read. */
function scriptOption(
  text: string,
  next: ShellWord | undefined,
  { script = [] }: Wrapper,
): { readonly taken: 1 | 2; readonly value: string | null } | undefined {
  if (script.includes(text)) return { taken: 2, value: next?.literal === true ? next.text : null };
  const option = script.find((each) => each.startsWith("--") && text.startsWith(`${each}=`));
  return option === undefined ? undefined : { taken: 1, value: text.slice(option.length + 1) };
}

/** Words an option takes: 1, or 2 with a value of its own. `undefined`: not a known option. */
function optionLength(text: string, wrapper: Wrapper): 1 | 2 | undefined {
  if (text === "-") return 1;
  if (!text.startsWith("--")) return bundleLength(text, wrapper);
  const [name = "", value] = text.slice(2).split("=", 2);
  if (wrapper.long?.includes(name) === true) return 1;
  if (wrapper.longValued?.includes(name) !== true) return undefined;
  return value === undefined ? 2 : 1;
}

function bundleLength(text: string, { flags = "", valued = "", optional = "" }: Wrapper): 1 | 2 | undefined {
  for (let place = 1; place < text.length; place++) {
    const letter = text.charAt(place);
    if (flags.includes(letter)) continue;
    if (optional.includes(letter)) return 1;
    if (!valued.includes(letter)) return undefined;
    return place === text.length - 1 ? 2 : 1;
  }
  return 1;
}
