import type { JournalEntry, ModelUsageEntry } from "../core/agent/entries.ts";
import { isSpending, isUnpaid } from "../core/agent/state.ts";
import { defined } from "../core/base/json.ts";
import { readEntries } from "./read-entries.ts";
import type { IndexedRecord, JournalScan } from "./scan-journal.ts";

/** Tags what was spent on a part of the conversation that a rewind set aside. */
const SET_ASIDE = "set aside";

/**
 * The cost of the records that a rewind set aside: money and tokens stay spent, whatever became of the
 * answers.
 * `path` is what the conversation goes on from. The entries carry a scope, so that they count for limits and
 * for nothing else.
 */
export function* setAsideSpending(
  descriptor: number,
  { records }: Pick<JournalScan, "records">,
  path: readonly IndexedRecord[],
): Generator<ModelUsageEntry, void, undefined> {
  if (path.length === records.length) return;
  const kept = new Set(path.map(({ id }) => id));
  const left = records.filter(({ id, type }) => SPENDING.has(type) && !kept.has(id));
  for (const entry of readEntries(descriptor, left)) {
    const spending = spendingSetAside(entry);
    if (spending !== undefined) yield spending;
  }
}

/** The cost of an entry that was set aside; `undefined` for one that cost nothing. */
export function spendingSetAside(entry: JournalEntry): ModelUsageEntry | undefined {
  if (!isSpending(entry) || isUnpaid(entry)) return undefined;
  const { id, parent, time, model, usage, costUsd, durationMs } = entry;
  return {
    id,
    parent,
    time,
    type: "model_usage",
    purpose: SET_ASIDE,
    scope: SET_ASIDE,
    model,
    usage,
    ...defined({ costUsd }),
    durationMs,
  };
}

const SPENDING: ReadonlySet<string> = new Set(["assistant_message", "model_usage"]);
