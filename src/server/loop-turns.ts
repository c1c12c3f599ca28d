/**
 * Turns of the event loop, handed out one at a time in the order they were asked for. Work that is done a
 * piece in each turn lets everything else go on between two pieces, however many do such work.
 */
export class LoopTurns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves in a turn that nobody else got. */
  next(): Promise<void> {
    this.#last = this.#last.then(() => new Promise((resolve) => void setImmediate(resolve)));
    return this.#last;
  }
}
