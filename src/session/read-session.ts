import { closeSync, fstatSync, readSync } from "node:fs";
import { basename } from "node:path";
import type { EntryBase, JournalEntry, ModelUsageEntry } from "../core/agent/entries.ts";
import { isSpending, isUncharged } from "../core/agent/state.ts";
import { isRecord, omitUndefined } from "../core/base/json.ts";
import { messageText } from "../core/message/message.ts";
import { stepByNumber } from "../journal/steps.ts";
import {
  checksumFor,
  decodeLine,
  MAX_RECORD_BYTES,
  RECORD_VERSION,
  type SessionEntry,
  type StoredEntry,
} from "./record.ts";
import { sessionError } from "./session-error.ts";
import { openNamedFile, openSessionFile } from "./session-file.ts";

/** A session, read without locking it: another process may continue writing. */
export interface SessionContent {
  readonly sessionId: string;
  readonly path: string;
  /** The first record; undefined if it is damaged. */
  readonly header: SessionEntry | undefined;
  readonly damaged: readonly DamagedLine[];
  /** Intact records of the file, including those that a rewind discarded. */
  readonly records: number;
  /** Entries from the first to the newest. */
  readonly entries: readonly JournalEntry[];
  /** The spending on records that a rewind discarded. */
  readonly setAside: readonly ModelUsageEntry[];
  /** Records among them that this version does not know, by type. */
  readonly otherTypes: { readonly [type: string]: number };
}

/** Reads a session file. Throws `journal` for a link, a newer version, and errors of the file system. */
export function readSession(path: string): SessionContent {
  const descriptor = openSessionFile(path, "read");
  try {
    const { scan, header, path: kept } = inspectSession(descriptor, path);
    const entries: JournalEntry[] = [];
    const otherTypes: { [type: string]: number } = {};
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
      setAside: [...discardedSpending(descriptor, scan, kept)],
      otherTypes,
    };
  } finally {
    closeSync(descriptor);
  }
}

const TITLE_BYTES = 256 * 1024;

export interface SessionSummary {
  /** The first record; undefined if it is damaged. */
  readonly header: SessionEntry | undefined;
  /** The first text a person wrote; undefined if there is none near the beginning. */
  readonly title: string | undefined;
}

/** The facts near the beginning of a session file. Empty for an unreadable one. */
export function summarizeSession(path: string): SessionSummary {
  let descriptor: number;
  try {
    descriptor = openSessionFile(path, "read");
  } catch {
    // A list shows existing files; the caller that opens the file gets the error.
    return { header: undefined, title: undefined };
  }
  try {
    return summaryIn(readLines(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

export function sessionTitle(path: string): string | undefined {
  return summarizeSession(path).title;
}

function summaryIn(lines: Iterable<Line>): SessionSummary {
  let header: SessionEntry | undefined;
  for (const { bytes, offset } of lines) {
    if (offset > TITLE_BYTES) break;
    const record = parseRecord(Buffer.from(bytes).toString("utf8"));
    if (record === undefined || !isStoredEntry(record)) continue;
    if (record.type === "session") header = record;
    if (record.type !== "user_message" || record.source === "memory") continue;
    const title = messageText(record.message).trim();
    if (title !== "") return { header, title };
  }
  return { header, title: undefined };
}

/**
 * Id of the entry before a step of a session: continuing from there repeats the model request of that step.
 * Throws `invalid_argument` for a step that the session does not have, `journal` for a session that cannot be
 * read.
 */
export function recordBeforeStep(path: string, step: number): string {
  const { entries } = readSession(path);
  const { at } = stepByNumber(entries, step);
  const before = entries[at - 1];
  if (before === undefined) throw sessionError(`Nothing stands before step ${step} of ${path}.`);
  return before.id;
}

/** A line of a file, without its newline. `bytes` are valid until the next line is requested. */
interface Line {
  readonly number: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** False for the last line of a file that does not end in a newline. */
  readonly isEnded: boolean;
  /** True if the line is longer than a record can be; `bytes` is then empty. */
  readonly isTooLong: boolean;
}

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** Lines of an open file from an offset on, numbered from there; uses little memory for any file size. */
export function* readLines(descriptor: number, from = 0): Generator<Line, void, undefined> {
  const { size } = fstatSync(descriptor);
  let buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1024, size - from + 1)));
  /** Number of filled bytes in `buffer`, and the start of the current line in it. */
  let filled = 0;
  let start = 0;
  let base = from;
  let number = 1;
  let skipped: number | undefined;
  for (;;) {
    const newline = buffer.subarray(0, filled).indexOf(NEWLINE, start);
    if (newline >= 0) {
      yield line(newline, true);
      start = newline + 1;
      number++;
      continue;
    }
    makeRoom();
    const read = readSync(descriptor, buffer, filled, buffer.length - filled, base + filled);
    if (read === 0) break;
    filled += read;
  }
  if (filled > start || skipped !== undefined) yield line(filled, false);

  function line(end: number, isEnded: boolean): Line {
    const offset = skipped ?? base + start;
    const isTooLong = skipped !== undefined;
    const bytes = isTooLong ? buffer.subarray(0, 0) : buffer.subarray(start, end);
    skipped = undefined;
    return { number, offset, bytes, isEnded, isTooLong };
  }

  /** Moves the start of the line to the front; enlarges the buffer for a line that fills it. */
  function makeRoom(): void {
    if (filled - start >= MAX_RECORD_BYTES) {
      skipped ??= base + start;
      start = filled;
    }
    const kept = filled - start;
    const target = kept > buffer.length / 2 ? Buffer.allocUnsafe(buffer.length * 2) : buffer;
    buffer.copy(target, 0, start, filled);
    buffer = target;
    base += start;
    start = 0;
    filled = kept;
  }
}

/** A damaged line, or a missing line before it. */
export interface DamagedLine {
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

export interface IndexedRecord extends Omit<EntryBase, "scope"> {
  readonly type: string;
  readonly line: number;
  /** Offset and length in the file, in bytes, without the newline. */
  readonly offset: number;
  readonly length: number;
}

export interface JournalScan {
  /** Intact records in file order, each id once. */
  readonly records: readonly IndexedRecord[];
  readonly damaged: readonly DamagedLine[];
  /** Parents of damaged records whose ids are still readable. */
  readonly ghosts: ReadonlyMap<string, string | null>;
  /** Set if a line has a newer version; the rest of the file was not read. */
  readonly newer?: { readonly line: number; readonly version: number };
}

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
      const { id, parent, time, type, start, end } = place;
      const at = { line: line.number, offset: line.offset + start, length: end - start };
      records.push({ id, parent, time, type, ...at });
    }
  }
  return {
    records,
    damaged: [...damaged, ...missingParents(records, damaged, lineOfId)].sort(
      (left, right) => left.line - right.line,
    ),
    ghosts,
  };
}

/** Records whose parent is missing without a trace: a line before them was removed. */
function missingParents(
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

/**
 * The records of the conversation, from the first to the newest. The newest is the last in the file; its
 * ancestors follow the `parent` fields, which is how a rewind discards later records. If a parent is
 * missing or damaged, the preceding record in the file replaces it, so that nothing intact is lost with it.
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
    // Unless something was rewound or damaged, the parent is right before it.
    if (record.parent !== null && record.parent === records[at - 1]?.id) at--;
    else {
      positions ??= new Map(records.map(({ id }, position) => [id, position]));
      at = positionBefore(record.parent, at, positions, ghosts);
    }
  }
  return path.reverse();
}

/** Position of the parent of the record at `at`, always less than `at`; -1 at the beginning. */
function positionBefore(
  parent: string | null,
  at: number,
  positions: ReadonlyMap<string, number>,
  ghosts: ReadonlyMap<string, string | null>,
): number {
  let id = parent;
  // Damaged records could refer to each other in a loop; each may be passed once.
  for (let steps = ghosts.size; id !== null; steps--) {
    const position = positions.get(id);
    if (position !== undefined && position < at) return position;
    const ancestor = steps > 0 ? ghosts.get(id) : undefined;
    if (ancestor === undefined) return at - 1;
    id = ancestor;
  }
  return -1;
}

/** The records of a file, and those that belong to its conversation. */
export interface ScannedSession {
  readonly scan: JournalScan;
  readonly path: readonly IndexedRecord[];
}

/** Scans an open session file. Throws `journal` for a newer version. */
export function inspectSession(
  descriptor: number,
  path: string,
): ScannedSession & { readonly header: SessionEntry | undefined } {
  const scan = scanJournal(descriptor);
  if (scan.newer !== undefined) {
    throw sessionError(
      `The session file ${path} is of version ${scan.newer.version}; this nano-agent reads up to ${RECORD_VERSION}. Use a newer nano-agent. The file was not touched.`,
    );
  }
  return { scan, path: recordPath(scan), header: sessionHeader(descriptor, scan.records) };
}

function sessionHeader(descriptor: number, records: readonly IndexedRecord[]): SessionEntry | undefined {
  const place = records.find(({ type }) => type === "session");
  if (place === undefined) return undefined;
  for (const record of readRecords(descriptor, [place]))
    if (isStoredEntry(record) && record.type === "session") return record;
  return undefined;
}

export function idOfPath(path: string): string {
  return basename(path, ".jsonl");
}

type AnyRecord = { readonly id: string; readonly type: string; readonly [field: string]: unknown };

const READ_BYTES = 256 * 1024;

/** Reads records from an open file in chunks, without holding all of them in memory. */
export function* readRecords(
  descriptor: number,
  records: Iterable<IndexedRecord>,
): Generator<AnyRecord, void, undefined> {
  const { size } = fstatSync(descriptor);
  let piece: Buffer = Buffer.alloc(0);
  let from = 0;
  for (const { offset, length } of records) {
    if (offset < from || offset + length > from + piece.length) {
      piece = readRange(descriptor, offset, Math.max(length, Math.min(READ_BYTES, size - offset)));
      from = offset;
    }
    if (offset + length > from + piece.length) return;
    const record = parseRecord(piece.toString("utf8", offset - from, offset - from + length));
    if (record !== undefined) yield record;
  }
}

export function readRange(descriptor: number, offset: number, length: number): Buffer {
  const piece = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(descriptor, piece, filled, length - filled, offset + filled);
    if (read === 0) break;
    filled += read;
  }
  return piece.subarray(0, filled);
}

/** The entries among records, without unknown types and the file's first record. */
export function* readEntries(
  descriptor: number,
  records: Iterable<IndexedRecord>,
): Generator<JournalEntry, void, undefined> {
  for (const record of readRecords(descriptor, records)) if (isJournalEntry(record)) yield record;
}

export function isJournalEntry(record: AnyRecord): record is JournalEntry & AnyRecord {
  return isStoredEntry(record) && record.type !== "session" && record.type !== "rewind";
}

export function parseRecord(text: string): AnyRecord | undefined {
  try {
    const { v: _version, sum: _sum, ...fields } = JSON.parse(text) as AnyRecord;
    return fields;
  } catch {
    // Broken JSON with a valid checksum was not written by this program and cannot be used.
    return undefined;
  }
}

/** True if a record has a known type and the fields that its readers rely on. */
function isStoredEntry(record: AnyRecord): record is StoredEntry & AnyRecord {
  const fields = FIELDS.get(record.type);
  return fields !== undefined && fields.every(([name, isValid]) => isValid(record[name]));
}

type ValueCheck = (value: unknown) => boolean;

const isText: ValueCheck = (value) => typeof value === "string";
const isList =
  (isValid: ValueCheck): ValueCheck =>
  (value) =>
    Array.isArray(value) && value.every(isValid);
const isMessage: ValueCheck = (value) => isRecord(value) && areBlocks(value["content"]);
const areBlocks = isList((block) => isRecord(block) && isText(block["type"]));
const areChanges = isList((change) => isRecord(change) && isText(change["path"]));

const OF_RUN = { sessionId: isText };
const OF_CALL = { callId: isText };
const OF_FILES = { root: isText, changes: areChanges };

const FIELDS: ReadonlyMap<string, readonly (readonly [string, ValueCheck])[]> = new Map(
  Object.entries({
    session: OF_RUN,
    run_start: OF_RUN,
    run_resume: OF_RUN,
    run_end: { stopReason: isText },
    history: { messages: isList(isMessage) },
    user_message: { message: isMessage },
    assistant_message: { message: isMessage, usage: isRecord },
    tool_intent: OF_CALL,
    permission_decision: OF_CALL,
    // A schema may turn the arguments into anything, but a question needs something to show.
    approval_request: { ...OF_CALL, name: isText, input: (value) => value !== undefined && value !== null },
    tool_result: { result: (value) => isRecord(value) && isText(value["tool_use_id"]) },
    checkpoint: OF_FILES,
    rollback: OF_FILES,
    rollback_end: { rollback: isText, failed: Array.isArray },
    compaction: { kept: (value) => typeof value === "number", messages: isList(isMessage) },
    compaction_undone: { target: isText },
    memory_edit: { messages: (value) => value === undefined || isList(isText)(value) },
    model_usage: { usage: isRecord },
    model_change: { model: isText },
    mode_change: { mode: isText },
    note: { kind: isText },
    retry: { error: isRecord },
    rewind: { from: (value) => value === null || isText(value) },
  } satisfies { readonly [type in StoredEntry["type"]]: { readonly [field: string]: ValueCheck } }).map(
    ([type, fields]) => [type, Object.entries(fields)],
  ),
);

const DISCARDED = "set aside";

/**
 * The cost of the records that a rewind discarded: money and tokens stay spent. `path` is the current
 * conversation. The entries carry a scope, so that they only count for limits.
 */
export function* discardedSpending(
  descriptor: number,
  { records }: Pick<JournalScan, "records">,
  path: readonly IndexedRecord[],
): Generator<ModelUsageEntry, void, undefined> {
  if (path.length === records.length) return;
  const kept = new Set(path.map(({ id }) => id));
  const left = records.filter(({ id, type }) => SPENDING_TYPES.has(type) && !kept.has(id));
  for (const entry of readEntries(descriptor, left)) {
    const spending = toDiscardedSpending(entry);
    if (spending !== undefined) yield spending;
  }
}

export function toDiscardedSpending(entry: JournalEntry): ModelUsageEntry | undefined {
  if (!isSpending(entry) || isUncharged(entry)) return undefined;
  const { id, parent, time, model, usage, costUsd, durationMs } = entry;
  return {
    id,
    parent,
    time,
    type: "model_usage",
    purpose: DISCARDED,
    scope: DISCARDED,
    model,
    usage,
    ...omitUndefined({ costUsd }),
    durationMs,
  };
}

const SPENDING_TYPES: ReadonlySet<string> = new Set(["assistant_message", "model_usage"]);

/** The findings of a session file check. */
export interface SessionCheck {
  readonly file: string;
  readonly ok: boolean;
  /** Intact records. */
  readonly records: number;
  readonly damaged: readonly DamagedLine[];
  /** From the first record; the name of the file if that is damaged. */
  readonly session_id: string;
}

/** Checks every line of a session file, changing nothing. Throws `invalid_argument`: no readable file. */
export function verifySession(file: string): SessionCheck {
  const descriptor = openNamedFile(file);
  try {
    const { records, damaged, newer } = scanJournal(descriptor);
    const all =
      newer === undefined
        ? damaged
        : [
            ...damaged,
            { line: newer.line, reason: `version ${newer.version}, newer than ${RECORD_VERSION}` },
          ];
    return {
      file,
      ok: all.length === 0,
      records: records.length,
      damaged: all,
      session_id: sessionHeader(descriptor, records)?.sessionId ?? idOfPath(file),
    };
  } finally {
    closeSync(descriptor);
  }
}
