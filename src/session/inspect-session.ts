import { basename } from "node:path";
import { isStoredEntry, readRecords } from "./read-entries.ts";
import { RECORD_VERSION, type SessionEntry } from "./record.ts";
import { type IndexedRecord, type JournalScan, scanJournal } from "./scan-journal.ts";
import { sessionError } from "./session-error.ts";

/** The lock beside a session file. */
export function lockPath(path: string): string {
  return path.replace(/(\.jsonl)?$/, ".lock");
}

/** A session file as far as it concerns all its readers. */
export interface InspectedFile {
  readonly scan: JournalScan;
  /** The first record, unless it is damaged. */
  readonly header: SessionEntry | undefined;
}

/** Scans an open session file. Throws `journal` for one of a newer version. */
export function inspectSession(descriptor: number, path: string): InspectedFile {
  const scan = scanJournal(descriptor);
  if (scan.newer !== undefined) {
    throw sessionError(
      `The session file ${path} is of version ${scan.newer.version}; this nano-agent reads up to ${RECORD_VERSION}. Use a newer nano-agent. The file was not touched.`,
    );
  }
  const header = sessionHeader(descriptor, scan.records);
  return { scan, header };
}

/** The record a session file begins with; undefined where it is damaged. */
export function sessionHeader(
  descriptor: number,
  records: readonly IndexedRecord[],
): SessionEntry | undefined {
  const place = records.find(({ type }) => type === "session");
  if (place === undefined) return undefined;
  for (const record of readRecords(descriptor, [place]))
    if (isStoredEntry(record) && record.type === "session") return record;
  return undefined;
}

/** The id a session file is named after. */
export function idOfPath(path: string): string {
  return basename(path, ".jsonl");
}
