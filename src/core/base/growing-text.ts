/** Pieces after which they are put together. */
const MAX_PIECES = 512;

/**
 * A text that comes in many small pieces. A string that is only ever added to keeps all its pieces, each larger than the few characters
 * it holds, for as long as nobody reads it: a long answer would take ten times its length.
 */
export class GrowingText {
  #text = "";
  #pieces: string[] = [];

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length === MAX_PIECES) this.#join();
  }

  /** The text so far. */
  toString(): string {
    this.#join();
    return this.#text;
  }

  #join(): void {
    if (this.#pieces.length === 0) return;
    this.#text += this.#pieces.join("");
    this.#pieces = [];
  }
}
