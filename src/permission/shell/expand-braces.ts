import type { WordPart } from "unbash";

/** Words that one with braces may become. */
export const MAX_BRACE_WORDS = 1024;
/** Lists of plain texts without anything nested. */
const LIST = /^\{([\w./:@%+=~-]*(?:,[\w./:@%+=~-]*)+)\}$/;
const NUMBERS = /^\{(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?\}$/;
const LETTERS = /^\{([a-z])\.\.([a-z])\}$|^\{([A-Z])\.\.([A-Z])\}$/;

/**
 * The texts a word with braces stands for, quotes removed. `undefined` when they cannot be told with
 * certainty (nested braces, expansions inside) or are too many.
 */
export function expandBraces(parts: readonly WordPart[]): readonly string[] | undefined {
  let texts: readonly string[] = [""];
  for (const part of parts) {
    const choices = choicesOf(part);
    if (choices === undefined || texts.length * choices.length > MAX_BRACE_WORDS) return undefined;
    texts = texts.flatMap((text) => choices.map((choice) => text + choice));
  }
  return texts;
}

/** The choices in one pair of braces, in order; `undefined` if no flat list of plain texts or range. */
export function braceChoices(text: string): readonly string[] | undefined {
  const list = LIST.exec(text)?.[1];
  if (list !== undefined) return list.split(",");
  const numbers = NUMBERS.exec(text);
  if (numbers !== null) return numberRange(numbers[1] ?? "", numbers[2] ?? "", Number(numbers[3] ?? 1));
  const letters = LETTERS.exec(text);
  if (letters === null) return undefined;
  const [from = 0, to = 0] = letters.slice(1).flatMap((letter) => letter?.charCodeAt(0) ?? []);
  return steps(from, to, 1)?.map((code) => String.fromCharCode(code));
}

function numberRange(from: string, to: string, step: number): readonly string[] | undefined {
  const padded = [from, to].some((text) => /^-?0\d/.test(text));
  const width = padded ? Math.max(from.length, to.length) : 0;
  return steps(Number(from), Number(to), Math.abs(step) || 1)?.map((value) => {
    const digits = String(Math.abs(value));
    return value < 0 ? `-${digits.padStart(width - 1, "0")}` : digits.padStart(width, "0");
  });
}

function steps(from: number, to: number, step: number): readonly number[] | undefined {
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  if (count > MAX_BRACE_WORDS) return undefined;
  const direction = to < from ? -step : step;
  return Array.from({ length: count }, (_, index) => from + index * direction);
}

function choicesOf(part: WordPart): readonly string[] | undefined {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [part.value];
    case "DoubleQuoted": {
      const values = part.parts.map((child) => (child.type === "Literal" ? child.value : child.text));
      return [values.join("")];
    }
    case "Glob":
    case "SimpleExpansion":
    case "CommandExpansion":
      return [part.text];
    case "BraceExpansion":
      return braceChoices(part.text);
    default:
      return undefined;
  }
}
