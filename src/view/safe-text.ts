/** Makes control characters, bidirectional marks and lone surrogates visible for a terminal. */
export function terminalText(text: string): string {
  if (SAFE.test(text)) return text;
  return text
    .replaceAll("\r\n", "\n")
    .toWellFormed()
    .replaceAll(UNSAFE, (char) => (char < " " ? String.fromCharCode(0x2400 + char.charCodeAt(0)) : "\uFFFD"));
}

/** A path on one line, whatever it contains: a second line would look like part of the question. */
export function pathLine(path: string): string {
  return path.replaceAll("\n", "‹U+000A›");
}

/** {@link terminalText} on one line of at most `maxChars` characters. */
export function terminalLine(text: string, maxChars: number): string {
  const line = terminalText(text.length > maxChars * 4 ? text.slice(0, maxChars * 4) : text)
    .replaceAll(/\s+/g, " ")
    .trim();
  const characters = [...line];
  return characters.length <= maxChars ? line : `${characters.slice(0, Math.max(0, maxChars - 1)).join("")}…`;
}

const SAFE = /^[\x20-\x7e\n\t\u00ae-\u024f\u0410-\u044f\u2500-\u257f\u3001-\u3029\u4e00-\u9fff]*$/;

/** Control and format characters and line separators, but not the joiners of emoji and letters. */
const UNSAFE = /(?![\n\t\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
