/** Puts the results of tool calls in the order of the calls: each waits for those before it. */
export class CallOrder<T> {
  #open: string[] = [];
  readonly #held = new Map<string, T>();

  /** The calls of a new answer, in their order. Forgets those before. */
  begin(callIds: readonly string[]): void {
    this.#open = [...callIds];
    this.#held.clear();
  }

  /** True for a call of the newest answer whose result was not given out yet. */
  has(callId: string): boolean {
    return this.#open.includes(callId);
  }

  /** Takes the result of a call. Returns the results whose turn it is now; none for an unknown call. */
  add(callId: string, result: T): readonly T[] {
    if (!this.has(callId)) return [];
    this.#held.set(callId, result);
    const due: T[] = [];
    for (let next = this.#open[0]; next !== undefined; next = this.#open[0]) {
      const ready = this.#held.get(next);
      if (ready === undefined) break;
      due.push(ready);
      this.#held.delete(next);
      this.#open.shift();
    }
    return due;
  }

  /** The results that wait for a call without one, in call order. Forgets all calls. */
  rest(): readonly T[] {
    const waiting = this.#open.flatMap((callId) => {
      const result = this.#held.get(callId);
      return result === undefined ? [] : [result];
    });
    this.begin([]);
    return waiting;
  }
}
