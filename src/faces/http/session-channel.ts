import { type FSWatcher, watch } from "node:fs";
import { type Clock, startTimer } from "../../core/base/async.ts";
import type { PassingEvent, SessionState } from "../../server/server-api.ts";

type Listener = (passing: PassingEvent | "entries") => void;

/** Options of a {@link SessionChannel}. */
export interface SessionChannelOptions {
  /** The file of the session. */
  readonly path: string;
  /** The state of the session now, whoever works on it. */
  readonly state: () => SessionState;
  readonly clock: Clock;
}

/** How often a file is looked at where the system does not tell of changes, and who writes it. */
const LOOK_MS = 1_000;

/**
 * All that follow one session, whether this process works on it or another one. The file is watched as long
 * as somebody follows.
 */
export class SessionChannel {
  readonly #options: SessionChannelOptions;
  readonly #listeners = new Set<Listener>();
  #watcher: FSWatcher | undefined;
  #stopTimer: () => void = () => undefined;
  #state: SessionState | undefined;

  constructor(options: SessionChannelOptions) {
    this.#options = options;
  }

  listen(listener: Listener): () => void {
    const own: Listener = (passing) => listener(passing);
    this.#listeners.add(own);
    if (this.#listeners.size === 1) this.#begin();
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size === 0) this.#end();
    };
  }

  tell(passing: PassingEvent | "entries"): void {
    for (const listener of this.#listeners) listener(passing);
  }

  /** Tells the state if it is another one than was told last. */
  tellState(): void {
    if (this.#listeners.size === 0) return;
    const state = this.#options.state();
    if (state === this.#state) return;
    this.#state = state;
    this.tell({ type: "state", state });
  }

  #begin(): void {
    this.#state = this.#options.state();
    try {
      this.#watcher = watch(this.#options.path, { persistent: false }, () => this.tell("entries"));
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // A system has only so many watchers; then looking has to do.
    }
    this.#lookLater();
  }

  #lookLater(): void {
    this.#stopTimer = startTimer(this.#options.clock, LOOK_MS, () => {
      this.tell("entries");
      this.tellState();
      if (this.#listeners.size > 0) this.#lookLater();
    });
  }

  #end(): void {
    this.#stopTimer();
    this.#watcher?.close();
    this.#watcher = undefined;
  }
}
