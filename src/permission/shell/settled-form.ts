import { PLAIN_WORD } from "./shell-literal.ts";

/**
 * True for a printed line that is printed the same once more, as its letters alone tell: commands with
 * operators between them, of plain words, quoted ones, and words with stars, variables and substitutions of
 * one plain command in them. False says nothing.
 */
export function isSettled(line: string): boolean {
  return SETTLED.test(line);
}

/** A text in quotes without escapes. */
const QUOTED = "'[^'\0-\\x08\\x0b-\\x1f\\x7f-\\x9f]+'";
/** The same, where it could not stand without them. */
const NEEDS_QUOTES = `(?='[^']*[^\\w./:,@%+=\\[\\]'-])${QUOTED}`;
const PLAIN = `${PLAIN_WORD}(?: ${PLAIN_WORD})*`;
const EXPANSION = `(?:\\$[A-Za-z_]\\w*|\\$\\(${PLAIN}\\))`;
const MIXED = `(?:${QUOTED})?(?:(?:[*?]|${EXPANSION}|"${EXPANSION}")(?:${QUOTED})?)+`;
const HOME = `~(?:/(?:${QUOTED})?)?`;
const WORD = `(?:${PLAIN_WORD}|--?[\\w-]+=[\\w./:,@%+-]+|${MIXED}|${NEEDS_QUOTES}|${HOME})`;
const COMMAND = `${WORD}(?: (?:(?:\\d{0,2}(?:<|>|>>|<<<) )?${WORD}|\\d{0,2}>&\\d))*`;
const SETTLED = new RegExp(`^${COMMAND}(?:(?:;| &&| \\|\\|| \\|| &) ${COMMAND})*(?: &)?$`);
