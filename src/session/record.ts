import type { EntryBase, JournalEntry } from "../core/agent/entries.ts";
import { errorMessage, NanoAgentError } from "../core/base/errors.ts";
import { isRecord, MAX_JSON_DEPTH } from "../core/base/json.ts";

/** The checksum of some bytes: CRC-32 (as in zlib, gzip and PNG), eight lowercase hex digits. */
type Checksum = (bytes: Uint8Array) => string;

/** Computed here: loading Node's own costs a command more than the records of a run. */
export const checksum: Checksum = (bytes) => {
  let crc = -1;
  for (let at = 0; at < bytes.length; at++) crc = (TABLE[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  return toHex(~crc >>> 0);
};

/** Number of bytes from which loading Node's own pays off. */
const MANY_BYTES = 1024 * 1024;

export function checksumFor(size: number): Checksum {
  if (size < MANY_BYTES) return checksum;
  const { crc32 } = process.getBuiltinModule("node:zlib");
  return (bytes) => toHex(crc32(bytes));
}

function toHex(crc: number): string {
  return crc.toString(16).padStart(8, "0");
}

/** Remainders of each byte (annex D of the PNG specification). */
const TABLE: Int32Array = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});

/** Version of the record format this code writes. It reads this version and refuses newer ones. */
export const RECORD_VERSION = 1;

/** The longest record, in bytes of its line. Longer ones are neither written nor read. */
export const MAX_RECORD_BYTES: number = 256 * 1024 * 1024;

/** The first record of a session file. */
export interface SessionEntry extends EntryBase {
  readonly type: "session";
  readonly sessionId: string;
  /** Working folder of the session, links resolved. */
  readonly cwd: string;
  /** Session this one is a copy of, and the record after which they differ. */
  readonly forkedFrom?: { readonly sessionId: string; readonly entry: string | null };
  /** Origin of an import: the program, and the id and folder in its file. */
  readonly importedFrom?: { readonly program: string; readonly sessionId?: string; readonly cwd?: string };
}

/** The conversation continues from an older record, its parent. Later ones only stay in the file. */
export interface RewindEntry extends EntryBase {
  readonly type: "rewind";
  /** The newest record before the rewind. */
  readonly from: string | null;
}

export type StoredEntry = JournalEntry | SessionEntry | RewindEntry;

interface EncodedRecord<E extends EntryBase> {
  readonly bytes: Uint8Array;
  /** The entry as a reader gets it: values that JSON or UTF-8 cannot hold are replaced. */
  readonly entry: E;
}

/**
 * The line of an entry: `{"v":1,"id":…,"parent":…,"time":…,"type":…, …fields…,"sum":"<8 hex digits>"}`. `sum`
 * is the {@link checksum} of the line's bytes before `,"sum":`. Lone surrogates become U+FFFD; values JSON
 * cannot hold become explanatory text. Throws `journal` for a record longer than {@link MAX_RECORD_BYTES}.
 */
export function encodeRecord<E extends EntryBase & { readonly type: string }>(entry: E): EncodedRecord<E> {
  const { id, parent, time, type, ...fields } = entry;
  const record = { v: RECORD_VERSION, id, parent, time, type, ...fields };
  const text = plainJson(record);
  if (text !== undefined) return { bytes: toLine(text, type), entry };
  const careful = carefulJson(record);
  const { v: _version, ...stored } = JSON.parse(careful) as E & { readonly v: unknown };
  return { bytes: toLine(careful, type), entry: stored as unknown as E };
}

/** Bytes of `,"sum":"<8 hex digits>"}`, the end of every line. */
const SUM_BYTES = 18;

/** The prefix of an escaped lone surrogate, which `JSON.stringify` writes for nothing else. */
const SURROGATE_ESCAPE = "\\ud";

/** The JSON text of a value that survives it unchanged; undefined for any other. */
function plainJson(record: object): string | undefined {
  try {
    const text = JSON.stringify(record);
    return text.includes(SURROGATE_ESCAPE) ? undefined : text;
  } catch {
    // A cycle, a BigInt, a throwing toJSON: the careful conversion handles it.
    return undefined;
  }
}

/** The JSON text of a value, with anything replaced that JSON or UTF-8 cannot hold. */
export function storableJson(value: object): string {
  return plainJson(value) ?? carefulJson(value);
}

function carefulJson(value: object): string {
  return JSON.stringify(toPlainJson(value, []));
}

function toLine(text: string, type: string): Uint8Array {
  const body = Buffer.from(text.slice(0, -1));
  if (body.length + SUM_BYTES >= MAX_RECORD_BYTES) {
    throw new NanoAgentError(
      "journal",
      `A ${type} record of ${body.length} bytes is longer than the ${MAX_RECORD_BYTES} bytes a session file can hold in one line.`,
    );
  }
  return Buffer.concat([body, Buffer.from(`,"sum":"${checksum(body)}"}\n`)]);
}

/**
 * A copy of `value` that JSON and UTF-8 can hold: lone surrogates become U+FFFD, a BigInt its digits; a
 * cycle, a throwing getter or `toJSON` and anything deeper than {@link MAX_JSON_DEPTH} become text in
 * brackets. `above` holds the enclosing objects. Never throws.
 */
function toPlainJson(value: unknown, above: readonly object[]): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "bigint") return `${value}`;
  if (typeof value !== "object" || value === null) return value;
  if (above.includes(value)) return "[circular]";
  if (above.length >= MAX_JSON_DEPTH) return "[nested too deep]";
  const around = [...above, value];
  try {
    if ("toJSON" in value && typeof value.toJSON === "function") return toPlainJson(value.toJSON(), around);
    if (Array.isArray(value)) return value.map((item: unknown) => toPlainJson(item, around));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key.toWellFormed(), toPlainJson(item, around)]),
    );
  } catch (error) {
    return `[not serialisable: ${errorMessage(error).toWellFormed()}]`;
  }
}

/** A located record; `start` and `end` are its byte offsets in the line. */
export interface LocatedRecord extends EntryBase {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

interface DecodedLine {
  /** Intact records with a valid checksum; more than one if a newline was lost. */
  readonly records: readonly LocatedRecord[];
  /** The damage of the line, in a few words. */
  readonly damage?: string;
  /** Set if the line claims a newer version, which is checked first. */
  readonly newerVersion?: number;
  /** Ids readable at the start of a damaged line, so that the surrounding records can be joined. */
  readonly ghost?: { readonly id: string; readonly parent: string | null };
}

/**
 * Decodes a line without its newline. A blank line is empty, not damaged. From a damaged line every record
 * with a valid checksum is used: two merged ones, or one after a torn one.
 */
export function decodeLine(line: Uint8Array, sumOf: Checksum = checksum): DecodedLine {
  const bytes = withoutCarriageReturn(line);
  if (isBlank(bytes)) return { records: [] };
  const version = versionOf(bytes);
  if (typeof version === "number" && version > RECORD_VERSION) return { records: [], newerVersion: version };
  const whole = version === RECORD_VERSION ? recordAt(bytes, 0, bytes.length, sumOf) : undefined;
  if (whole !== undefined) return { records: [whole] };
  return salvage(bytes, version, sumOf);
}

const RETURN = 13;

/** Converted line endings do not damage a record. */
function withoutCarriageReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.length < 80 && latin1(bytes, 0, bytes.length).trim() === "";
}

/** The version a line claims: that of its first field, else the field `v` if the line is JSON. */
function versionOf(bytes: Uint8Array): unknown {
  const head = /^\{"v":(\d{1,9})[,}]/.exec(latin1(bytes, 0, 16));
  if (head !== null) return Number(head[1]);
  const value = parseJson(bytes);
  return isRecord(value) ? value["v"] : undefined;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8"));
  } catch {
    // Broken JSON has no version; the checksum will show that the line is damaged.
    return undefined;
  }
}

/** The record between two offsets; undefined if its checksum is wrong or it is not a record. */
function recordAt(bytes: Uint8Array, start: number, end: number, sumOf: Checksum): LocatedRecord | undefined {
  const bodyEnd = end - SUM_BYTES;
  if (bodyEnd <= start) return undefined;
  const sum = /^,"sum":"([0-9a-f]{8})"\}$/.exec(latin1(bytes, bodyEnd, end))?.[1];
  if (sum === undefined || sum !== sumOf(bytes.subarray(start, bodyEnd))) return undefined;
  const head = headOf(bytes, start) ?? fieldsOf(parseJson(bytes.subarray(start, end)));
  return head === undefined ? undefined : { ...head, start, end };
}

type Head = EntryBase & { readonly type: string };

const IDS = /^\{"v":\d+,"id":"([^"\\]{1,256})","parent":(?:null|"([^"\\]{1,256})"),/;
const REST = /^"time":(-?\d{1,17}),"type":"([^"\\]{1,64})"/;
const HEAD_BYTES = 700;

/** The leading fields of a record, read without parsing the rest; undefined for any other order of fields. */
function headOf(bytes: Uint8Array, start: number): Head | undefined {
  const text = latin1(bytes, start, start + HEAD_BYTES);
  const ids = IDS.exec(text);
  const rest = ids === null ? null : REST.exec(text.slice(ids[0].length));
  const [, id] = ids ?? [];
  const [, time, type] = rest ?? [];
  if (id === undefined || time === undefined || type === undefined) return undefined;
  // A multi-byte character would not survive being read byte by byte.
  if (!isAscii(id) || !isAscii(ids?.[2] ?? "") || !isAscii(type)) return undefined;
  return { id, parent: ids?.[2] ?? null, time: Number(time), type };
}

function isAscii(text: string): boolean {
  return !/[^\u0000-\u007f]/.test(text);
}

function fieldsOf(value: unknown): Head | undefined {
  if (!isRecord(value)) return undefined;
  const { id, parent, time, type } = value as { readonly [key in keyof Head]?: unknown };
  if (typeof id !== "string" || typeof time !== "number" || typeof type !== "string") return undefined;
  if (parent !== null && typeof parent !== "string") return undefined;
  return { id, parent, time, type };
}

/** Limits of tries per line and bytes hashed for them: damage must not cost more than reading. */
const MAX_TRIES = 64;
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

function salvage(bytes: Uint8Array, version: unknown, sumOf: Checksum): DecodedLine {
  const text = latin1(bytes, 0, bytes.length);
  const newer = newerVersionIn(text);
  if (newer !== undefined) return { records: [], newerVersion: newer };
  const records = recordsIn(bytes, text, sumOf);
  const ids = IDS.exec(text.slice(0, HEAD_BYTES));
  const [, id] = ids ?? [];
  const isLost = id !== undefined && records.every((record) => record.id !== id);
  return {
    records,
    damage: damageOf(bytes.length, text, records, version),
    ...(isLost ? { ghost: { id, parent: ids?.[2] ?? null } } : {}),
  };
}

/** Quotes in a string are escaped, so JSON never contains `"}{"`: it is the seam of two merged records. */
function newerVersionIn(text: string): number | undefined {
  for (const [, version] of text.matchAll(/"\}\{"v":(\d{1,9})[,}]/g))
    if (Number(version) > RECORD_VERSION) return Number(version);
  return undefined;
}

function recordsIn(bytes: Uint8Array, text: string, sumOf: Checksum): LocatedRecord[] {
  const ends = [...text.matchAll(/,"sum":"[0-9a-f]{8}"\}/g)].map((match) => match.index + SUM_BYTES);
  const records: LocatedRecord[] = [];
  let tries = 0;
  let hashed = 0;
  let from = 0;
  for (const { index: start } of text.matchAll(/\{"v":1,/g)) {
    if (start < from) continue;
    for (const end of ends) {
      if (end <= start) continue;
      if (++tries > MAX_TRIES || (hashed += end - start) > MAX_HASHED_BYTES) return records;
      const record = recordAt(bytes, start, end, sumOf);
      if (record === undefined) continue;
      records.push(record);
      from = end;
      break;
    }
  }
  return records;
}

function damageOf(length: number, text: string, records: readonly LocatedRecord[], version: unknown): string {
  const used = records.reduce((sum, { start, end }) => sum + end - start, 0);
  if (records.length > 0 && used === length) return `${records.length} records on one line, all used`;
  const rest = records.length === 0 ? "" : `; ${records.length} whole in the same line used`;
  if (version === undefined && !text.startsWith('{"v":')) return `not a record${rest}`;
  if (version !== RECORD_VERSION && version !== undefined)
    return `unknown version ${JSON.stringify(version)}`;
  if (!/,"sum":"[0-9a-f]{8}"\}$/.test(text)) return `cut short${rest}`;
  return `wrong checksum${rest}`;
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1", start, end);
}
