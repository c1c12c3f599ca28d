/** Takes secrets out of texts, and leaves marks in their places (see `redaction-mark.ts`). Never throws. */
export interface Redaction {
  /** The text without secrets; the same text where it holds none. */
  text(text: string): string;
  /** For one text that comes in pieces. */
  stream(): RedactionStream;
}

/** One text in pieces. What could be the beginning of a secret is held back until it is certain. */
export interface RedactionStream {
  /** The text that is certain by now: of this piece, and of those held back before. */
  push(piece: string): string;
  /** The text that was held back, for somebody who looks now or because nothing more comes. */
  flush(): string;
}
