/**
 * The first character of a command that a person would not see as what it is: control characters (but blank, tab and line feed), zero-width
 * and bidirectional characters, Unicode blanks, tags, variation selectors and unpaired surrogates. As `U+XXXX`; `undefined` when there is none.
 */
export function hiddenCharacter(text: string): string | undefined {
  if (PLAIN.test(text)) return undefined;
  const found = HIDDEN.exec(text)?.[0];
  return found === undefined ? undefined : nameOf(found);
}

/** A text in which every {@link hiddenCharacter} stands as its name: `a‹U+202E›b`. Tabs and line feeds stay. */
export function withHiddenShown(text: string): string {
  return text.replaceAll(EVERY_HIDDEN, (char) => `‹${nameOf(char)}›`);
}

function nameOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const PLAIN = /^[\x20-\x7e\n\t]*$/;
const HIDDEN =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\ufff0-\uffff\u{e0000}-\u{e0fff}]|(?! )\p{Zs}/u;
const EVERY_HIDDEN = new RegExp(HIDDEN.source, "gu");
