/**
 * A text of foreign origin made safe for a terminal: control characters (escape sequences with them), bidirectional overrides and
 * lone surrogates become visible, line ends and tabs stay.
 */
export function terminalText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .toWellFormed()
    .replaceAll(UNSAFE, (char) => (char < " " ? pictureOf(char) : "\uFFFD"));
}

/** {@link terminalText} on one line of at most `maxChars` characters. */
export function terminalLine(text: string, maxChars: number): string {
  const line = terminalText(text.length > maxChars * 4 ? text.slice(0, maxChars * 4) : text)
    .replaceAll(/\s+/g, " ")
    .trim();
  const characters = [...line];
  return characters.length <= maxChars ? line : `${characters.slice(0, Math.max(0, maxChars - 1)).join("")}…`;
}

/** Control and format characters; the joiner of emoji stays. */
const UNSAFE = /(?![\n\t\u200D])[\p{Cc}\p{Cf}]/gu;

/** The Unicode picture of a control character. */
function pictureOf(char: string): string {
  return String.fromCharCode(0x2400 + char.charCodeAt(0));
}
