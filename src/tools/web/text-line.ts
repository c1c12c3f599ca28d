/** A line that grows piece by piece; each operation costs what it touches. */
export class TextLine {
  readonly #pieces: string[] = [];

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** A place to come back to: the end of what is there now. */
  get end(): number {
    return this.#pieces.length;
  }

  get endsInSpace(): boolean {
    return /\s$/.test(this.#pieces.at(-1) ?? "");
  }

  add(text: string): void {
    if (text !== "") this.#pieces.push(text);
  }

  /** Removes blanks from the end, as far back as `from`; true when there were some. */
  trimEnd(from = 0): boolean {
    let trimmed = false;
    while (this.#pieces.length > from) {
      const last = this.#pieces.pop() ?? "";
      const kept = last.trimEnd();
      trimmed ||= kept !== last;
      if (kept === "") continue;
      this.#pieces.push(kept);
      break;
    }
    return trimmed;
  }

  /** Takes away what was added since a place, and returns it. */
  cut(from: number): string {
    return this.#pieces.splice(from).join("");
  }
}
