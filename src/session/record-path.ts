import type { IndexedRecord, JournalScan } from "./scan-journal.ts";

/**
 * The records from the first to the newest, in order: those a conversation goes on from. The newest is the
 * last of the file; its ancestors follow the `parent` fields, which is how a rewind leaves what came after it
 * aside. Where a parent is missing or damaged the record before it in the file takes its place, so that
 * nothing whole is lost with it.
 */
export function recordPath({
  records,
  ghosts,
}: Pick<JournalScan, "records" | "ghosts">): readonly IndexedRecord[] {
  const path: IndexedRecord[] = [];
  let positions: Map<string, number> | undefined;
  let at = records.length - 1;
  for (let record = records[at]; record !== undefined; record = records[at]) {
    path.push(record);
    // As long as nothing was rewound or damaged, the parent stands right before.
    if (record.parent !== null && record.parent === records[at - 1]?.id) at--;
    else {
      positions ??= new Map(records.map(({ id }, position) => [id, position]));
      at = positionBefore(record.parent, at, { positions, ghosts });
    }
  }
  return path.reverse();
}

interface Places {
  readonly positions: ReadonlyMap<string, number>;
  readonly ghosts: ReadonlyMap<string, string | null>;
}

/** Position of the parent of the record at `at`, always smaller than `at`; -1 at the beginning. */
function positionBefore(parent: string | null, at: number, { positions, ghosts }: Places): number {
  let id = parent;
  // Ghosts could name each other in a circle; each may be passed once.
  for (let steps = ghosts.size; id !== null; steps--) {
    const position = positions.get(id);
    if (position !== undefined && position < at) return position;
    const behind = steps > 0 ? ghosts.get(id) : undefined;
    if (behind === undefined) return at - 1;
    id = behind;
  }
  return -1;
}
