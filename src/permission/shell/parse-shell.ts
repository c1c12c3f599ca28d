import { type ParsedScript, parse } from "unbash";

/** Result of {@link parseShell}. `problem`: in a few words, why the line cannot be read with certainty. */
export interface ParsedShell {
  /** As much as could be read, also when there is a problem. */
  readonly script?: ParsedScript;
  readonly problem?: string;
}

/** Deeper nested brackets are not read: the parser's time grows faster than their number. */
const MAX_DEPTH = 50;
const MAX_HEREDOC_MARKS = 400;
const MAX_BACKTICKS = 10_000;
/** Characters of a command line that are read. */
export const MAX_LENGTH = 1_000_000;

/**
 * Reads a command line as Bash. Never throws, and takes linear time: what is nested too deeply, or too long,
 * is not read at all. Errors inside substitutions are reported by the scripts of those.
 */
export function parseShell(source: string): ParsedShell {
  const tooMuch = excess(source);
  if (tooMuch !== undefined) return { problem: tooMuch };
  try {
    const script = parse(source);
    const error = script.errors?.[0];
    return error === undefined ? { script } : { script, problem: error.message };
  } catch {
    return { problem: "it is too complex to be read" };
  }
}

/** Why nobody tries to read a command line; `undefined` for all but the strangest. */
function excess(source: string): string | undefined {
  if (source.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`;
  let depth = 0;
  let backticks = 0;
  let heredocMarks = 0;
  for (let index = 0; index < source.length; index++) {
    const char = source.charCodeAt(index);
    if (char === 0x28 || char === 0x7b || char === 0x5b) depth++;
    else if (char === 0x29 || char === 0x7d || char === 0x5d) depth = Math.max(0, depth - 1);
    else if (char === 0x60) backticks++;
    else if (char === 0x3c && source.charCodeAt(index + 1) === 0x3c) heredocMarks++;
    if (depth > MAX_DEPTH) return "it is nested too deeply to be read";
  }
  if (heredocMarks > MAX_HEREDOC_MARKS) return "it opens too many here-documents";
  return backticks > MAX_BACKTICKS ? "it has too many backticks" : undefined;
}
