/** Puts the results of tool calls in the order of the calls: each waits for those before it. */
export class CallOrder<T> {
  #openIds: string[] = [];
  readonly #results = new Map<string, T>();

  /** Starts with the calls of a new answer, in order. Forgets earlier ones. */
  begin(callIds: readonly string[]): void {
    this.#openIds = [...callIds];
    this.#results.clear();
  }

  /** True for a call of the newest answer whose result has not been returned yet. */
  has(callId: string): boolean {
    return this.#openIds.includes(callId);
  }

  /** Takes the result of a call. Returns the results that are now due; none for an unknown call. */
  add(callId: string, result: T): readonly T[] {
    if (!this.has(callId)) return [];
    this.#results.set(callId, result);
    const due: T[] = [];
    for (let next = this.#openIds[0]; next !== undefined; next = this.#openIds[0]) {
      const ready = this.#results.get(next);
      if (ready === undefined) break;
      due.push(ready);
      this.#results.delete(next);
      this.#openIds.shift();
    }
    return due;
  }

  /** The results held back by a call without one, in call order. Forgets all calls. */
  takeRest(): readonly T[] {
    const waiting = this.#openIds.flatMap((callId) => {
      const result = this.#results.get(callId);
      return result === undefined ? [] : [result];
    });
    this.begin([]);
    return waiting;
  }
}
