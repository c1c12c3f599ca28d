const INTERVAL_MS = 100;
/** Most characters of one update; of more text only the end is shown. */
const MAX_CHARS = 8000;

/** Passes text on as it comes, at most ten times a second and never more than a screen or two at once. */
export class LiveUpdate {
  readonly #publish: (text: string) => void;
  #pending = "";
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(publish: (text: string) => void) {
    this.#publish = publish;
  }

  /** Adds text; it is published with the next update. */
  push(text: string): void {
    if (this.#isStopped) return;
    this.#pending = (this.#pending + text.slice(-MAX_CHARS)).slice(-MAX_CHARS);
    this.#timer ??= setTimeout(() => this.#flush(), INTERVAL_MS);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #flush(): void {
    const text = this.#pending.toWellFormed();
    this.#pending = "";
    this.#timer = undefined;
    this.#publish(text);
  }
}
