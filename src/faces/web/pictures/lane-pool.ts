/**
 * Gives out the rows of a picture, so that what happens at the same time never shares one. Each row that is
 * taken is given back once. Every step takes the same time, however many rows are taken.
 */
export class LanePool {
  #free: number[] = [];
  #opened = 0;
  #taken = 0;
  #count = 0;

  /** How many rows were needed at most. */
  get count(): number {
    return this.#count;
  }

  take(): number {
    this.#taken++;
    const lane = this.#free.pop() ?? this.#opened++;
    this.#count = Math.max(this.#count, this.#opened);
    return lane;
  }

  give(lane: number): void {
    this.#taken--;
    this.#free.push(lane);
    if (this.#taken > 0) return;
    // What comes next begins at the top again, wherever the last one was.
    this.#free = [];
    this.#opened = 0;
  }
}
