import { fstatSync } from "node:fs";
import type { EntryBase } from "../core/agent/entries.ts";
import { checksumFor } from "./checksum.ts";
import { decodeLine, type RecordPlace } from "./decode-line.ts";
import { readLines } from "./read-lines.ts";

/** A line that cannot be used as it stands, or a gap in front of it. */
export interface DamagedLine {
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

/** A whole record: what it is and where it stands. */
export interface IndexedRecord extends Omit<EntryBase, "scope"> {
  readonly type: string;
  readonly line: number;
  /** Place and length in the file, in bytes, without the newline. */
  readonly offset: number;
  readonly length: number;
}

/** Content of a session file, without what its records say. */
export interface JournalScan {
  /** Whole records in the order of the file, each id once. */
  readonly records: readonly IndexedRecord[];
  readonly damaged: readonly DamagedLine[];
  /** Parents of records that are damaged but still show their ids. */
  readonly ghosts: ReadonlyMap<string, string | null>;
  /** Set when a line is of a newer version; the rest of the file was not looked at. */
  readonly newer?: { readonly line: number; readonly version: number };
}

/** Looks at every line of an open session file. Throws what the file system throws. */
export function scanJournal(descriptor: number): JournalScan {
  const records: IndexedRecord[] = [];
  const damaged: DamagedLine[] = [];
  const ghosts = new Map<string, string | null>();
  const lineOfId = new Map<string, number>();
  const sumOf = checksumFor(fstatSync(descriptor).size);
  for (const line of readLines(descriptor)) {
    if (line.isTooLong) {
      damaged.push({ line: line.number, reason: "longer than a record can be" });
      continue;
    }
    const { newerVersion, ghost, damage, records: found } = decodeLine(line.bytes, sumOf);
    if (newerVersion !== undefined)
      return { records, damaged, ghosts, newer: { line: line.number, version: newerVersion } };
    if (damage !== undefined) damaged.push({ line: line.number, reason: damage });
    if (ghost !== undefined) ghosts.set(ghost.id, ghost.parent);
    for (const place of found) {
      const first = lineOfId.get(place.id);
      if (first !== undefined) {
        damaged.push({ line: line.number, reason: `the record of line ${first} again` });
        continue;
      }
      lineOfId.set(place.id, line.number);
      records.push(indexed(place, line));
    }
  }
  return {
    records,
    damaged: [...damaged, ...gaps(records, damaged, lineOfId)].sort((left, right) => left.line - right.line),
    ghosts,
  };
}

function indexed(
  place: RecordPlace,
  line: { readonly number: number; readonly offset: number },
): IndexedRecord {
  const { id, parent, time, type, start, end } = place;
  return { id, parent, time, type, line: line.number, offset: line.offset + start, length: end - start };
}

/** Records whose parent is missing without a trace: a line in front of them was taken out. */
function gaps(
  records: readonly IndexedRecord[],
  damaged: readonly DamagedLine[],
  lineOfId: ReadonlyMap<string, number>,
): DamagedLine[] {
  const found: DamagedLine[] = [];
  let before = 0;
  for (const { parent, line } of records) {
    const isMissing = parent !== null && !lineOfId.has(parent);
    if (isMissing && !damaged.some((damage) => damage.line >= before && damage.line <= line))
      found.push({ line, reason: `the record before it is missing (${parent})` });
    before = line;
  }
  return found;
}
