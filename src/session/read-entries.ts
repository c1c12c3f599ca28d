import { fstatSync, readSync } from "node:fs";
import type { JournalEntry } from "../core/agent/entry.ts";
import { isRecord } from "../core/base/json.ts";
import type { StoredEntry } from "./record.ts";
import type { IndexedRecord } from "./scan-journal.ts";

/** A record of any type, parsed: also one of a type this version does not know. */
export type AnyRecord = { readonly id: string; readonly type: string; readonly [field: string]: unknown };

/** Bytes that are read at once. */
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

/** The entries among records: types this version does not know, and the first record of the file, are left out. */
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
  switch (record.type) {
    case "session":
    case "run_start":
    case "run_resume":
      return typeof record["sessionId"] === "string";
    case "tool_intent":
    case "permission_decision":
    case "approval_request":
      return typeof record["callId"] === "string";
    case "tool_result":
      return isRecord(record["result"]) && typeof record["result"]["tool_use_id"] === "string";
    case "run_end":
      return typeof record["stopReason"] === "string";
    default:
      return (
        isSpoken(record) ||
        isFileEntry(record) ||
        isContextEntry(record) ||
        isRewind(record) ||
        isBeside(record)
      );
  }
}

function isSpoken({ type, messages, message, usage }: AnyRecord): boolean {
  if (type === "history") return Array.isArray(messages) && messages.every(isMessage);
  if (type === "user_message") return isMessage(message);
  return type === "assistant_message" && isMessage(message) && isRecord(usage);
}

function isRewind({ type, from }: AnyRecord): boolean {
  return type === "rewind" && (from === null || typeof from === "string");
}

/** The same of records about what is beside the conversation. */
function isBeside({ type, model, mode, kind, error }: AnyRecord): boolean {
  if (type === "model_change") return typeof model === "string";
  if (type === "mode_change") return typeof mode === "string";
  if (type === "note") return typeof kind === "string";
  return type === "retry" && isRecord(error);
}

function isFileEntry(record: AnyRecord): boolean {
  switch (record.type) {
    case "checkpoint":
    case "rollback":
      return typeof record["root"] === "string" && areChanges(record["changes"]);
    case "rollback_end":
      return typeof record["rollback"] === "string" && Array.isArray(record["failed"]);
    default:
      return false;
  }
}

function areChanges(value: unknown): boolean {
  return (
    Array.isArray(value) && value.every((change) => isRecord(change) && typeof change["path"] === "string")
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** The same of records about what a conversation holds. */
function isContextEntry(record: AnyRecord): boolean {
  const { messages, kept, target, usage } = record;
  if (record.type === "memory_edit") return messages === undefined || isTexts(messages);
  if (record.type === "model_usage") return isRecord(usage);
  if (record.type === "compaction_undone") return typeof target === "string";
  if (record.type !== "compaction" || typeof kept !== "number") return false;
  return Array.isArray(messages) && messages.every(isMessage);
}

function isMessage(value: unknown): boolean {
  if (!isRecord(value) || !Array.isArray(value["content"])) return false;
  return value["content"].every((block) => isRecord(block) && typeof block["type"] === "string");
}
