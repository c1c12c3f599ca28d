import { check, FUNCTION_SCHEMA } from "../../core/base/check-options.ts";
import { errorMessage } from "../../core/base/errors.ts";
import type { Redaction } from "../../core/base/text.ts";
import type { Notice, OnNotice } from "../../view/notice.ts";

export class SessionNotices {
  readonly #redact: Redaction | undefined;
  readonly list: Notice[] = [];
  // An error of a notice listener is only listed: notifying it again would fail again.
  readonly #listeners = new Listeners<[notice: Notice]>((error) => this.list.push(listenerFailure(error)));

  constructor(redact: Redaction | undefined, listener: OnNotice | undefined) {
    this.#redact = redact;
    if (listener !== undefined) this.#listeners.add(listener);
  }

  listen(listener: OnNotice): () => void {
    return this.#listeners.add(listener);
  }

  add(notice: Notice): void {
    const redacted =
      this.#redact !== undefined && "message" in notice
        ? { ...notice, message: this.#redact.text(notice.message) }
        : notice;
    this.list.push(redacted);
    this.#listeners.call(redacted);
  }
}

export function listenerFailure(error: unknown): Notice {
  return { level: "error", code: "plugin", message: `A listener failed: ${errorMessage(error)}` };
}

/** Calls listeners. The first error of each one goes to `onError`; the others are still called. */
export class Listeners<A extends readonly unknown[]> {
  #listeners: readonly ((...args: A) => void)[] = [];
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Returns an unsubscribe function. Throws `invalid_argument` if the listener is not a function. */
  add(listener: (...args: A) => void): () => void {
    check(listener, FUNCTION_SCHEMA, "The listener");
    // A separate entry, so that unsubscribing a function that was added twice removes one.
    let hasFailed = false;
    const entry = (...args: A): void => {
      try {
        listener(...args);
      } catch (error) {
        if (!hasFailed) this.#onError(error);
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
