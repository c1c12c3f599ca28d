import type { JournalEntry } from "../../../core/agent/entries.ts";
import { textOf } from "../../../core/message/message.ts";
import { isOfFile } from "../../../server/session-changes.ts";
import { callTitle } from "../../../view/call-text.ts";
import type { SessionView, ViewItem } from "../../../view/view.ts";
import { ViewFold } from "../../../view/view-fold.ts";

/** A moment that a replay can stand at: right after an entry that people see. */
export interface ReplayMoment {
  /** How many entries there are up to it. */
  readonly count: number;
  readonly entryId: string;
  readonly time: number;
  readonly type: JournalEntry["type"];
  /** Its words or its tool, in one line. */
  readonly label: string;
  /** True within a subagent or a phase of a pattern: a fork cannot begin there. */
  readonly isNested: boolean;
}

/** Entries in which nothing happens that a person would see. */
const UNSEEN: ReadonlySet<JournalEntry["type"]> = new Set(["model_usage", "rollback", "memory_edit"]);

const MAX_LABEL = 120;

/** The moments of a session, in order. */
export function replayMoments(entries: readonly JournalEntry[]): readonly ReplayMoment[] {
  return entries.flatMap((entry, at): readonly ReplayMoment[] => {
    if (UNSEEN.has(entry.type)) return [];
    const { id: entryId, time, type, scope } = entry;
    const isNested = scope !== undefined;
    return [{ count: at + 1, entryId, time, type, label: labelOf(entry), isNested }];
  });
}

function labelOf(entry: JournalEntry): string {
  switch (entry.type) {
    case "user_message":
    case "assistant_message":
      return oneLine(textOf(entry.message.content, " "));
    case "tool_intent":
    case "approval_request":
    case "permission_decision":
      return oneLine(`${entry.name} ${callTitle(entry.input)}`);
    case "tool_result":
      return oneLine(`${entry.name} ${entry.title ?? entry.status}`);
    case "checkpoint":
      return oneLine(
        entry.changes
          .filter(isOfFile)
          .map(({ path }) => path)
          .join(", "),
      );
    case "run_end":
      return entry.stopReason;
    case "retry":
      return oneLine(entry.error.message);
    case "run_start":
    case "run_resume":
    case "model_change":
      return oneLine(entry.model);
    case "mode_change":
      return entry.mode;
    default:
      return "";
  }
}

function oneLine(text: string): string {
  return text
    .slice(0, MAX_LABEL * 2)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_LABEL)
    .toWellFormed();
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
