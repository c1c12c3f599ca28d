/** What a {@link PartStream} tells its writer. */
export interface PartStreamHooks {
  /** The reader asked for the first part. */
  readonly onStart: () => void;
  /** The reader left before the end. */
  readonly onLeave: () => void;
  /** True: more than a thousand parts wait, so stop the flow. False: all were taken, so go on. */
  readonly onPressure: (high: boolean) => void;
}

interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T>) => void;
  readonly reject: (error: unknown) => void;
}

const HIGH_WATER = 1_024;

/**
 * An async iterator with one writer that never waits. Reading costs one settled promise per part and nothing else, which is why
 * it is no async generator.
 */
export class PartStream<T> implements AsyncIterableIterator<T> {
  readonly #hooks: PartStreamHooks;
  #queue: T[] = [];
  #head = 0;
  readonly #waiters: Waiter<T>[] = [];
  #started = false;
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #pressed = false;

  constructor(hooks: PartStreamHooks) {
    this.#hooks = hooks;
  }

  push(value: T): void {
    if (this.#ended) return;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      waiter.resolve({ done: false, value });
      return;
    }
    this.#queue.push(value);
    if (!this.#pressed && this.#queue.length - this.#head > HIGH_WATER) {
      this.#pressed = true;
      this.#hooks.onPressure(true);
    }
  }

  /** Forgets what was not read yet. */
  discard(): void {
    this.#queue = [];
    this.#head = 0;
    this.#release();
  }

  /** The end: whoever reads on gets what is left and then nothing more. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const waiter of this.#waiters.splice(0)) waiter.resolve({ done: true, value: undefined });
  }

  /** The end with an error, thrown to the reader once, instead of what was not read yet. */
  fail(error: unknown): void {
    if (this.#ended) return;
    this.#queue = [];
    this.#head = 0;
    this.#failure = { error };
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      this.#failure = undefined;
      waiter.reject(error);
    }
    this.close();
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#head < this.#queue.length) {
      const value = this.#queue[this.#head] as T;
      this.#head++;
      if (this.#head === this.#queue.length) this.#emptied();
      return Promise.resolve({ done: false, value });
    }
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(error);
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      if (this.#started) return;
      this.#started = true;
      this.#hooks.onStart();
    });
  }

  return(): Promise<IteratorResult<T>> {
    const running = !this.#ended;
    this.#queue = [];
    this.#head = 0;
    this.#failure = undefined;
    this.close();
    if (running) this.#hooks.onLeave();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #emptied(): void {
    this.#queue.length = 0;
    this.#head = 0;
    this.#release();
  }

  #release(): void {
    if (!this.#pressed) return;
    this.#pressed = false;
    this.#hooks.onPressure(false);
  }
}
