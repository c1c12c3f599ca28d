import { singleQuoted } from "../../core/base/text.ts";

/** Words that the shell takes for its own where a command may begin. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  "if then elif else fi for while until do done case esac in select function time coproc { } [[ ]] !".split(
    " ",
  ),
);

/**
 * A text as one word that every shell reads as just that. Bare where no character can mean anything, in
 * single quotes otherwise; control characters, which would not show, as numbers.
 */
export function shellLiteral(text: string): string {
  return BARE.test(text) && !RESERVED_WORDS.has(text) ? text : quoted(text);
}

/** The same, never bare: for a piece of a word. */
export function quoted(text: string): string {
  if (!CONTROL.test(text)) return singleQuoted(text);
  const shown = text.replaceAll(/['\\]/g, "\\$&").replaceAll(EVERY_CONTROL, octal);
  return `$'${shown}'`;
}

function octal(char: string): string {
  return `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
}

/** True for one command of words, with a blank between them, that every shell reads as they stand. */
export function isPlainCommand(text: string): boolean {
  return PLAIN_COMMAND.test(text);
}

/** The command in a substitution that runs a plain one. */
export function plainSubstitution(text: string): string | undefined {
  const inner = text.slice(2, -1);
  return SUBSTITUTION.test(text) && isPlainCommand(inner) ? inner : undefined;
}

const PLAIN = "[\\w./:,@%+-]";
const RESERVED = [...RESERVED_WORDS].filter((word) => /^\w/.test(word)).join("|");
/** A word that stands for itself wherever it stands. */
const PLAIN_WORD = `(?!(?:${RESERVED})(?!${PLAIN}))${PLAIN}+`;
const PLAIN_COMMAND = new RegExp(`^${PLAIN_WORD}(?: ${PLAIN_WORD})*$`);
const SUBSTITUTION = /^[$<>]\([^()]*\)$/;
/** Options may have a value; elsewhere `=` could make an assignment of a word. */
const BARE = /^(?:(?:--?[\w-]+=)?[\w./:,@%+-]+|\[|\])$/;
const CONTROL = /[^\P{Cc}\n\t]/u;
const EVERY_CONTROL = /[^\P{Cc}\n\t]/gu;
