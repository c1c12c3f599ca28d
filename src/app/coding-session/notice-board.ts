import { errorMessage } from "../../core/base/errors.ts";
import type { Redaction } from "../../core/base/redaction.ts";
import { Listeners } from "./listeners.ts";
import type { Notice, OnNotice } from "./notice.ts";

/** The notices of a session, secrets taken out. */
export class NoticeBoard {
  readonly #redact: Redaction | undefined;
  readonly #list: Notice[] = [];
  // There is nobody left to tell that telling failed.
  readonly #listeners = new Listeners<[notice: Notice]>((error) => this.#list.push(fault(error)));

  constructor(redact: Redaction | undefined, listener: OnNotice | undefined) {
    this.#redact = redact;
    if (listener !== undefined) this.#listeners.add(listener);
  }

  get list(): readonly Notice[] {
    return this.#list;
  }

  listen(listener: OnNotice): () => void {
    return this.#listeners.add(listener);
  }

  add(notice: Notice): void {
    const shown =
      this.#redact !== undefined && "message" in notice
        ? { ...notice, message: this.#redact.text(notice.message) }
        : notice;
    this.#list.push(shown);
    this.#listeners.call(shown);
  }
}

/** That code of the host failed which listens to a session. */
export function fault(error: unknown): Notice {
  return { level: "error", code: "plugin", message: `A listener failed: ${errorMessage(error)}` };
}
