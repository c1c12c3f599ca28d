import { type ShellWord, textAt } from "./shell-command.ts";

/** How a program takes scripts. */
export interface ScriptOptions {
  /** Letter of the option that holds a script; empty: only the first operand does. */
  readonly script: string;
  /** Its long form, without dashes. */
  readonly long: string;
  /** Other short options with a value. */
  readonly valued: string;
}

/** A script, and the word it stands in. */
export interface FoundScript {
  readonly index: number;
  readonly text: string;
}

/** The scripts given to sed or awk: the values of their option, or else the first operand. */
export function findScripts(words: readonly ShellWord[], options: ScriptOptions): readonly FoundScript[] {
  const scripts: FoundScript[] = [];
  let operand: number | undefined;
  for (let index = 1; index < words.length; index++) {
    const text = textAt(words, index);
    if (text === "--") {
      operand ??= index + 1;
      break;
    }
    if (!text.startsWith("-") || text === "-") {
      operand ??= index;
      continue;
    }
    const option = text.startsWith("--") ? longOption(text, options) : shortOption(text, options);
    if (option === undefined) continue;
    if (option.value === undefined) index++;
    if (option.isScript) scripts.push({ index, text: option.value ?? textAt(words, index) });
  }
  if (scripts.length > 0 || operand === undefined || operand >= words.length) return scripts;
  return [{ index: operand, text: textAt(words, operand) }];
}

/** An option with a value; without one in the same word, the next word is it. */
interface ValuedOption {
  readonly isScript: boolean;
  readonly value?: string;
}

function longOption(text: string, { long }: ScriptOptions): ValuedOption | undefined {
  const equals = text.indexOf("=");
  const name = text.slice(2, equals === -1 ? undefined : equals);
  if (name === "" || !long.startsWith(name)) return undefined;
  return equals === -1 ? { isScript: true } : { isScript: true, value: text.slice(equals + 1) };
}

function shortOption(text: string, { script, valued }: ScriptOptions): ValuedOption | undefined {
  const at = [...text].findIndex((letter, place) => place > 0 && (script + valued).includes(letter));
  if (at === -1) return undefined;
  const isScript = script !== "" && text.charAt(at) === script;
  const value = text.slice(at + 1);
  return value === "" ? { isScript } : { isScript, value };
}
