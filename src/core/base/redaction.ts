/** Takes secrets out of texts, and leaves marks such as `«redacted:key»` in their places. Never throws. */
export interface Redaction {
  /** The text without secrets; the same text where it holds none. */
  text(text: string): string;
  /** For one text that comes in pieces. */
  stream(): RedactionStream;
  /**
   * The text without those secrets whose values are known, for a person who decides on it: what only looks
   * like a secret may be code that would run. Absent: such a text is shown as it is.
   */
  known?(text: string): string;
}

/** One text in pieces. What could be the beginning of a secret is held back until it is certain. */
export interface RedactionStream {
  /** The text that is certain by now: of this piece, and of those held back before. */
  push(piece: string): string;
  /** The text that was held back, for somebody who looks now or because nothing more comes. */
  flush(): string;
}

/** Stands where a secret was: `«redacted:github-token»`. `kind` keeps letters, digits, `_`, `.` and `-`. */
export function redactionMark(kind: string): string {
  return `«redacted:${kind.replaceAll(/[^A-Za-z0-9_.-]/g, "").slice(0, 80) || "secret"}»`;
}

/** The first mark in a text, if any. A text with a mark is not the text it stands for. */
export function findRedactionMark(text: string): string | undefined {
  return MARK.exec(text)?.[0];
}

const MARK = /«redacted:[A-Za-z0-9_.-]{1,80}»/;
