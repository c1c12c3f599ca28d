import type { AgentEvent, JournalEntry } from "../../core/agent/entries.ts";
import type { Notice } from "../../view/notice.ts";
import type { Outcome } from "../../view/outcome.ts";
import type { SessionView, ViewChange } from "../../view/view.ts";
import { type HostView, ViewFold } from "../../view/view-fold.ts";
import { Listeners } from "./notice-board.ts";

/** Where a {@link LiveView} looks. */
export interface ViewSource {
  readonly entries: () => Iterable<JournalEntry>;
  readonly host: () => HostView;
  readonly notices: () => readonly Notice[];
  readonly onFault: (error: unknown) => void;
}

/** The view of a session that is at work. Costs nothing until somebody looks at it. */
export class LiveView {
  readonly #source: ViewSource;
  readonly #listeners: Listeners<[change: ViewChange]>;
  /** Background commands that were started before ended with the process that started them. */
  readonly #since = Date.now();
  #fold: ViewFold | undefined;

  constructor(source: ViewSource) {
    this.#source = source;
    this.#listeners = new Listeners(source.onFault);
  }

  get view(): SessionView {
    return this.#opened().view;
  }

  listen(listener: (change: ViewChange) => void): () => void {
    this.#opened();
    return this.#listeners.add(listener);
  }

  apply(event: AgentEvent): void {
    this.#change((fold) => {
      fold.apply(event);
      // It may have been a message that waited until now.
      if (event.type === "user_message") fold.host(this.#source.host());
    });
  }

  notice(notice: Notice): void {
    this.#change((fold) => fold.notice(notice));
  }

  /** Something beside events changed. */
  changed(): void {
    this.#change((fold) => fold.host(this.#source.host()));
  }

  /** A run ended, and no event will say so. */
  failed(outcome: Outcome): void {
    this.#change((fold) => fold.fail(outcome));
  }

  reset(): void {
    if (this.#fold === undefined) return;
    this.#fold = this.#folded([]);
    this.#listeners.call({ items: [], rest: true, reset: true });
  }

  #opened(): ViewFold {
    return (this.#fold ??= this.#folded(this.#source.notices()));
  }

  #folded(notices: readonly Notice[]): ViewFold {
    const { entries, host } = this.#source;
    const fold = new ViewFold(host());
    for (const entry of entries()) fold.apply(entry);
    fold.endJobs(this.#since);
    if (host().state === "idle") fold.leaveRun();
    for (const notice of notices) fold.notice(notice);
    fold.take();
    return fold;
  }

  #change(work: (fold: ViewFold) => void): void {
    if (this.#fold === undefined) return;
    work(this.#fold);
    const change = this.#fold.take();
    if (change.items.length > 0 || change.rest) this.#listeners.call(change);
  }
}
