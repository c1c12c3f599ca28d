/**
 * A stream with one writer and one reader. The writer never waits: events queue up until the reader takes them. It ends exactly
 * once, by {@link EventStream.end} or {@link EventStream.fail}; what is pushed afterwards is dropped. A reader that leaves early
 * (`break`, `return()`) triggers `onCancel`, whose promise is awaited before the loop is left, so nothing runs on unseen.
 */
export class EventStream<T> implements AsyncIterableIterator<T> {
  #queue: T[] = [];
  /** Index of the next event in `#queue`; the queue is swapped for a fresh one when it is used up. */
  #next = 0;
  #waiting: { resolve: (result: IteratorResult<T>) => void; reject: (error: unknown) => void } | undefined;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #start: (() => void) | undefined;
  readonly #onCancel: (() => Promise<void> | void) | undefined;

  /** `onStart` runs at the first `next()`, so a stream nobody reads does nothing. */
  constructor(hooks: { readonly onStart?: () => void; readonly onCancel?: () => Promise<void> | void } = {}) {
    this.#start = hooks.onStart;
    this.#onCancel = hooks.onCancel;
  }

  /** Adds an event. After the end it is dropped. */
  push(event: T): void {
    if (this.#ended) return;
    const waiting = this.#waiting;
    if (waiting === undefined) {
      this.#queue.push(event);
      return;
    }
    this.#waiting = undefined;
    waiting.resolve({ value: event, done: false });
  }

  /** Ends the stream after the events already pushed. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#waiting?.resolve({ value: undefined, done: true });
    this.#waiting = undefined;
  }

  /** Ends the stream with an error, which the reader meets after the events already pushed. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#waiting === undefined) this.#failure = { error };
    else this.#waiting.reject(error);
    this.#waiting = undefined;
  }

  next(): Promise<IteratorResult<T>> {
    this.#begin();
    if (this.#next < this.#queue.length) {
      const value = this.#queue[this.#next++] as T;
      if (this.#next === this.#queue.length) {
        this.#queue = [];
        this.#next = 0;
      }
      return Promise.resolve({ value, done: false });
    }
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(error);
    }
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  async return(): Promise<IteratorResult<T>> {
    const running = !this.#ended && this.#start === undefined;
    this.#start = undefined;
    this.#queue = [];
    this.#next = 0;
    this.#failure = undefined;
    this.end();
    if (running) await this.#onCancel?.();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #begin(): void {
    const start = this.#start;
    if (start === undefined) return;
    this.#start = undefined;
    start();
  }
}
