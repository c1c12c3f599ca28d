/** Pieces after which they are put together. */
const MAX_PIECES = 512;

/**
 * A text that comes in many small pieces. A string that is only ever added to keeps all its pieces, each
 * larger than the few characters it holds, for as long as nobody reads it: a long answer would take ten times
 * its length.
 */
export class GrowingText {
  #text = "";
  #pieces: string[] = [];
  /** The pieces as one text, where somebody reads along. */
  #open = "";

  add(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length === MAX_PIECES) this.#join();
  }

  /** Adds a piece and returns the text so far: for who reads along, in place of {@link add}. */
  grow(piece: string): string {
    this.#open += piece;
    this.add(piece);
    return this.#text + this.#open;
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
    this.#open = "";
  }
}
