/** The first character that a person would not see as what it is, as `U+XXXX`. */
export function findInvisible(text: string): string | undefined {
  if (VISIBLE_ASCII.test(text)) return undefined;
  const character = HIDDEN.exec(text)?.[0];
  return character === undefined ? undefined : nameOf(character);
}

/** A text with each {@link findInvisible} as its name: `a‹U+202E›b`. Tabs and line feeds stay. */
export function revealInvisible(text: string): string {
  return text.replaceAll(EVERY_HIDDEN, (char) => `‹${nameOf(char)}›`);
}

function nameOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const VISIBLE_ASCII = /^[\x20-\x7e\n\t]*$/;
/** All that Unicode wants ignored where it cannot be shown, except the sign that makes an emoji of it. */
const HIDDEN =
  /(?![\n\t]|(?<=\p{Extended_Pictographic})\ufe0f|(?<=[0-9#*])\ufe0f\u20e3)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff0-\uffff]|(?! )\p{Zs}/u;
const EVERY_HIDDEN = new RegExp(HIDDEN.source, "gu");
