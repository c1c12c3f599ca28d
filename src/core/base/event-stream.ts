/** The calls of an {@link EventStream} to its writer. */
export interface StreamHooks {
  /** The reader asked for the first event: a stream that nobody reads does nothing. */
  readonly onStart?: () => void;
  /** The reader left early. Awaited before its loop ends. */
  readonly onCancel?: () => Promise<void> | void;
  /** True: more than a thousand events are queued, so pause. False: all were taken, so resume. */
  readonly onPressure?: (isHigh: boolean) => void;
}

const HIGH_WATER = 1_024;

/**
 * A stream with one writer and one reader. The writer never waits: events queue up until they are read. The
 * stream ends exactly once, by {@link EventStream.end} or {@link EventStream.fail}; later events are dropped.
 * A reader that leaves early (`break`, `return()`) triggers `onCancel`, and its loop waits for that promise,
 * so nothing keeps running unseen.
 */
export class EventStream<T> implements AsyncIterableIterator<T> {
  #queue: T[] = [];
  /** Index of the next event in `#queue`, which is replaced when it is used up. */
  #next = 0;
  #waiting: PromiseWithResolvers<IteratorResult<T>> | undefined;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #start: (() => void) | undefined;
  readonly #onCancel: StreamHooks["onCancel"];
  readonly #onPressure: StreamHooks["onPressure"];
  #isUnderPressure = false;
  /** Settles when the work of a stream whose reader left has ended. */
  #cancelled: Promise<void> | undefined;

  constructor(hooks: StreamHooks = {}) {
    this.#start = hooks.onStart;
    this.#onCancel = hooks.onCancel;
    this.#onPressure = hooks.onPressure;
  }

  /** Starts the writer, as asking for the first event does. Does nothing the second time. */
  begin(): void {
    const start = this.#start;
    this.#start = undefined;
    start?.();
  }

  push(event: T): void {
    if (this.#ended) return;
    const waiting = this.#waiting;
    if (waiting === undefined) {
      this.#queue.push(event);
      if (this.#queue.length - this.#next > HIGH_WATER) this.#signalPressure(true);
      return;
    }
    this.#waiting = undefined;
    waiting.resolve({ value: event, done: false });
  }

  /** Drops the events not read yet. */
  discard(): void {
    this.#queue = [];
    this.#next = 0;
    this.#signalPressure(false);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#waiting?.resolve({ value: undefined, done: true });
    this.#waiting = undefined;
  }

  /** Ends the stream with an error, which the reader gets after the queued events. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#waiting === undefined) this.#failure = { error };
    else this.#waiting.reject(error);
    this.#waiting = undefined;
  }

  next(): Promise<IteratorResult<T>> {
    this.begin();
    if (this.#next < this.#queue.length) {
      const value = this.#queue[this.#next++] as T;
      if (this.#next === this.#queue.length) this.discard();
      return Promise.resolve({ value, done: false });
    }
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(error);
    }
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    // A second request before the first answer gets the event after it.
    const before = this.#waiting?.promise;
    if (before !== undefined)
      return before.then(
        () => this.next(),
        () => this.next(),
      );
    this.#waiting = Promise.withResolvers();
    return this.#waiting.promise;
  }

  async return(): Promise<IteratorResult<T>> {
    const running = !this.#ended && this.#start === undefined;
    this.#start = undefined;
    this.#failure = undefined;
    this.end();
    this.discard();
    if (running) this.#cancelled = this.#cancel();
    await this.#cancelled;
    return { value: undefined, done: true };
  }

  async #cancel(): Promise<void> {
    await this.#onCancel?.();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #signalPressure(isHigh: boolean): void {
    if (isHigh === this.#isUnderPressure) return;
    this.#isUnderPressure = isHigh;
    if (!this.#ended) this.#onPressure?.(isHigh);
  }
}
