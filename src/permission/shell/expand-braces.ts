import type { WordPart } from "unbash";

const MAX_WORDS = 64;
/** Lists of plain texts without anything nested; number and letter ranges stay as they are written. */
const LIST = /^\{([\w./:@%+=, -]*,[\w./:@%+=, -]*)\}$/;
const RANGE = /^\{-?\w+\.\.-?\w+(?:\.\.-?\d+)?\}$/;

/**
 * The texts a word with braces stands for, quotes removed. `undefined` when they cannot be told with certainty (nested braces,
 * expansions inside) or are more than 64. A range (`{1..9}`) is kept as one text: it can only become numbers or letters.
 */
export function expandBraces(parts: readonly WordPart[]): readonly string[] | undefined {
  let texts: readonly string[] = [""];
  for (const part of parts) {
    const choices = choicesOf(part);
    if (choices === undefined) return undefined;
    texts = texts.flatMap((text) => choices.map((choice) => text + choice));
    if (texts.length > MAX_WORDS) return undefined;
  }
  return texts;
}

function choicesOf(part: WordPart): readonly string[] | undefined {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [part.value];
    case "Glob":
      return [part.text];
    case "DoubleQuoted": {
      const values = part.parts.map((child) => (child.type === "Literal" ? child.value : child.text));
      return [values.join("")];
    }
    case "SimpleExpansion":
    case "CommandExpansion":
      return [part.text];
    case "BraceExpansion": {
      if (RANGE.test(part.text)) return [part.text];
      return LIST.exec(part.text)?.[1]?.split(",");
    }
    default:
      return undefined;
  }
}
