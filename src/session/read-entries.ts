import { fstatSync, readSync } from "node:fs";
import type { JournalEntry } from "../core/agent/entries.ts";
import { isRecord } from "../core/base/json.ts";
import type { StoredEntry } from "./record.ts";
import type { IndexedRecord } from "./scan-journal.ts";

/** A record of any type, parsed: also one of a type this version does not know. */
export type AnyRecord = { readonly id: string; readonly type: string; readonly [field: string]: unknown };

const CHUNK_BYTES = 256 * 1024;

/** Reads records from an open file, one piece of the file at a time: not all of them are held in memory. */
export function* readRecords(
  descriptor: number,
  records: Iterable<IndexedRecord>,
): Generator<AnyRecord, void, undefined> {
  const { size } = fstatSync(descriptor);
  let piece: Buffer = Buffer.alloc(0);
  let from = 0;
  for (const { offset, length } of records) {
    if (offset < from || offset + length > from + piece.length) {
      piece = readPiece(descriptor, offset, Math.max(length, Math.min(CHUNK_BYTES, size - offset)));
      from = offset;
    }
    if (offset + length > from + piece.length) return;
    const record = parseRecord(piece.toString("utf8", offset - from, offset - from + length));
    if (record !== undefined) yield record;
  }
}

/** Bytes of a file; fewer where it ends before. */
function readPiece(descriptor: number, offset: number, length: number): Buffer {
  const piece = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(descriptor, piece, filled, length - filled, offset + filled);
    if (read === 0) break;
    filled += read;
  }
  return piece.subarray(0, filled);
}

/** The entries among records, without types this version does not know and the file's first record. */
export function* readEntries(
  descriptor: number,
  records: Iterable<IndexedRecord>,
): Generator<JournalEntry, void, undefined> {
  for (const record of readRecords(descriptor, records)) if (isJournalEntry(record)) yield record;
}

/** True when a record is an entry of the conversation's journal, and none about the file itself. */
export function isJournalEntry(record: AnyRecord): record is JournalEntry & AnyRecord {
  return isStoredEntry(record) && record.type !== "session" && record.type !== "rewind";
}

/** The fields of a record from its JSON text; undefined for broken JSON. */
export function parseRecord(text: string): AnyRecord | undefined {
  try {
    const { v: _version, sum: _sum, ...fields } = JSON.parse(text) as AnyRecord;
    return fields;
  } catch {
    // A right checksum over broken JSON: nothing this program wrote, and nothing to be used.
    return undefined;
  }
}

/** True when a record is of a known type and has the fields that whoever folds it relies on. */
export function isStoredEntry(record: AnyRecord): record is StoredEntry & AnyRecord {
  const fields = FIELDS.get(record.type);
  return fields !== undefined && fields.every(([name, holds]) => holds(record[name]));
}

type ValueCheck = (value: unknown) => boolean;

const isText: ValueCheck = (value) => typeof value === "string";
const isList =
  (holds: ValueCheck): ValueCheck =>
  (value) =>
    Array.isArray(value) && value.every(holds);
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
    // A schema may make anything of the arguments, but nobody can be asked about nothing.
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
