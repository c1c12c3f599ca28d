import { closeSync } from "node:fs";
import type { JournalEntry, ModelUsageEntry } from "../core/agent/entries.ts";
import { messageText } from "../core/message/message.ts";
import { stepNumbered } from "../journal/steps.ts";
import { idOfPath, inspectSession } from "./inspect-session.ts";
import { isJournalEntry, isStoredEntry, parseRecord, readRecords } from "./read-entries.ts";
import { type Line, readLines } from "./read-lines.ts";
import type { SessionEntry } from "./record.ts";
import { recordPath } from "./record-path.ts";
import type { DamagedLine } from "./scan-journal.ts";
import { sessionError } from "./session-error.ts";
import { openSessionFile } from "./session-file.ts";
import { setAsideSpending } from "./set-aside-spending.ts";

/** A session, read without holding it: another process may go on writing. */
export interface SessionContent {
  readonly sessionId: string;
  readonly path: string;
  /** The first record; undefined when it is damaged. */
  readonly header: SessionEntry | undefined;
  readonly damaged: readonly DamagedLine[];
  /** Whole records of the file, those that a rewind left aside included. */
  readonly records: number;
  /** Entries from the first to the newest. */
  readonly entries: readonly JournalEntry[];
  /** The spending on records that a rewind left aside. */
  readonly setAside: readonly ModelUsageEntry[];
  /** Records between them that this version does not know, by type. */
  readonly otherTypes: { readonly [type: string]: number };
}

/** Reads a session file. Throws `journal` for a link, a newer version, and what the file system refuses. */
export function readSession(path: string): SessionContent {
  const descriptor = openSessionFile(path, "read");
  try {
    const { scan, header } = inspectSession(descriptor, path);
    const entries: JournalEntry[] = [];
    const otherTypes: { [type: string]: number } = {};
    const kept = recordPath(scan);
    for (const record of readRecords(descriptor, kept)) {
      if (isJournalEntry(record)) entries.push(record);
      else if (!isStoredEntry(record)) otherTypes[record.type] = (otherTypes[record.type] ?? 0) + 1;
    }
    return {
      sessionId: idOfPath(path),
      path,
      header,
      damaged: scan.damaged,
      records: scan.records.length,
      entries,
      setAside: [...setAsideSpending(descriptor, scan, kept)],
      otherTypes,
    };
  } finally {
    closeSync(descriptor);
  }
}

/** Bytes looked at for a title: the first input stands near the beginning. */
const TITLE_BYTES = 256 * 1024;

/** The fields that a list shows of a session beside its file. */
export interface SessionSummary {
  /** The working folder; undefined where the first record is damaged. */
  readonly cwd: string | undefined;
  /** The first text a person wrote; undefined when there is none near the beginning. */
  readonly title: string | undefined;
  /** When it was made as a copy of another session: what is older was taken over. */
  readonly copiedAt?: number;
}

/** The facts near the beginning of a session file. Of one that cannot be read, nothing. */
export function summarizeSession(path: string): SessionSummary {
  let descriptor: number;
  try {
    descriptor = openSessionFile(path, "read");
  } catch {
    // A list shows what is there; whoever opens the file is told what is wrong with it.
    return { cwd: undefined, title: undefined };
  }
  try {
    return summaryIn(readLines(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

/** The first text a person wrote in a session; see {@link SessionSummary}. */
export function sessionTitle(path: string): string | undefined {
  return summarizeSession(path).title;
}

function summaryIn(lines: Iterable<Line>): SessionSummary {
  let cwd: string | undefined;
  let copied: Pick<SessionSummary, "copiedAt"> = {};
  for (const { bytes, offset } of lines) {
    if (offset > TITLE_BYTES) break;
    const record = parseRecord(Buffer.from(bytes).toString("utf8"));
    if (record === undefined || !isStoredEntry(record)) continue;
    if (record.type === "session") cwd = record.cwd;
    if (record.type === "session" && record.forkedFrom !== undefined) copied = { copiedAt: record.time };
    if (record.type !== "user_message" || record.source === "memory") continue;
    const title = messageText(record.message).trim();
    if (title !== "") return { cwd, title, ...copied };
  }
  return { cwd, title: undefined, ...copied };
}

/**
 * Id of the entry in front of a step of a session: who goes on from there asks the model what was asked in
 * that step. Throws `invalid_argument` for a step that the session does not have, `journal` for a session
 * that cannot be read.
 */
export function recordBeforeStep(path: string, step: number): string {
  const { entries } = readSession(path);
  const { at } = stepNumbered(entries, step);
  const before = entries[at - 1];
  if (before === undefined) throw sessionError(`Nothing stands before step ${step} of ${path}.`);
  return before.id;
}
