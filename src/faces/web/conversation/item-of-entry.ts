import type { JournalEntry } from "../../../core/agent/entries.ts";
import type { ViewItem } from "../../../view/view.ts";

/** The place of the item that shows an entry, or of the first one after it; undefined where there is none. */
export function itemOfEntry(items: readonly ViewItem[], entry: JournalEntry): number | undefined {
  const callId = "callId" in entry ? entry.callId : undefined;
  const own = items.findIndex(
    (item) => (item.type === "tool" && item.callId === callId) || item.id === entry.id,
  );
  const place = own === -1 ? items.findIndex(({ time }) => time >= entry.time) : own;
  return place === -1 ? undefined : place;
}
