/** Keeps the input where a tall panel ended: what is said next fills the rows between. */
export class Floor {
  #rows = 0;

  /** Rows that the lower part takes at least, now that so many were printed above it. */
  after(printed: number): number {
    this.#rows = Math.max(0, this.#rows - printed);
    return this.#rows;
  }

  /** So many rows were drawn. */
  settle(rows: number, isPanel: boolean): void {
    if (isPanel || rows > this.#rows) this.#rows = isPanel ? rows : 0;
  }

  reset(): void {
    this.#rows = 0;
  }
}
