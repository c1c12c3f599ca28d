import type { JournalEntry } from "../../../core/agent/entries.ts";
import type { SessionView, ViewItem } from "../../../view/view.ts";
import { ViewFold } from "../../../view/view-fold.ts";

/** A moment that a replay can stand at: right after an entry that people see. */
export interface ReplayMoment {
  /** How many entries there are up to it. */
  readonly count: number;
  readonly entryId: string;
  readonly time: number;
  /** True within a subagent or a phase of a pattern: a fork cannot begin there. */
  readonly isNested: boolean;
}

/** Entries in which nothing happens that a person would see. */
const UNSEEN: ReadonlySet<JournalEntry["type"]> = new Set([
  "run_start",
  "model_usage",
  "rollback",
  "memory_edit",
]);

/** The moments of a session, in order. */
export function replayMoments(entries: readonly JournalEntry[]): readonly ReplayMoment[] {
  return entries.flatMap(({ id: entryId, time, type, scope }, at): readonly ReplayMoment[] =>
    UNSEEN.has(type) ? [] : [{ count: at + 1, entryId, time, isNested: scope !== undefined }],
  );
}

/**
 * Shows a session as it was at any of its moments. Going forward folds only what is new; going back begins
 * anew.
 */
export class ReplayCursor {
  readonly #entries: readonly JournalEntry[];
  #fold = newFold();
  #count = 0;

  constructor(entries: readonly JournalEntry[]) {
    this.#entries = entries;
  }

  /** The items and the use when this many entries were there. The list is only good until the next move. */
  moveTo(count: number): Pick<SessionView, "items" | "usage" | "costUsd" | "context" | "todo"> {
    if (count < this.#count) {
      this.#fold = newFold();
      this.#count = 0;
    }
    for (; this.#count < count; this.#count++) {
      const entry = this.#entries[this.#count];
      if (entry !== undefined) this.#fold.apply(entry);
    }
    this.#fold.take();
    return this.#fold.view;
  }
}

function newFold(): ViewFold {
  const items: ViewItem[] = [];
  return new ViewFold(
    {
      state: "idle",
      queue: [],
      queueHeld: false,
      steering: [],
      questions: [],
      model: "",
      mode: "default",
      effort: undefined,
      windowTokens: undefined,
      endedJobs: new Map(),
    },
    items,
  );
}
