/**
 * Those who want to hear of something. What one of them throws first goes to `onFault`; it keeps nobody else
 * from hearing.
 */
export class Listeners<A extends readonly unknown[]> {
  #listeners: readonly ((...args: A) => void)[] = [];
  readonly #onFault: (error: unknown) => void;

  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Returns the function that ends the listening. */
  add(listener: (...args: A) => void): () => void {
    // An entry of its own, so that a function that listens twice stops once.
    let hasFailed = false;
    const entry = (...args: A): void => {
      try {
        listener(...args);
      } catch (error) {
        if (!hasFailed) this.#onFault(error);
        hasFailed = true;
      }
    };
    this.#listeners = [...this.#listeners, entry];
    return () => {
      this.#listeners = this.#listeners.filter((each) => each !== entry);
    };
  }

  call(...args: A): void {
    for (const listener of this.#listeners) listener(...args);
  }
}
