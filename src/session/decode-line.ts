import type { EntryBase } from "../core/agent/entries.ts";
import { isRecord } from "../core/base/json.ts";
import { type Checksum, checksum } from "./checksum.ts";
import { RECORD_VERSION, SUM_BYTES } from "./record.ts";

/** The place of a record for a reader; `start` and `end` are where it stands in its line, in bytes. */
export interface RecordPlace extends EntryBase {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** Content of a line of a session file. */
export interface DecodedLine {
  /** Whole records with a right checksum; more than one when a newline was lost. */
  readonly records: readonly RecordPlace[];
  /** The fault of the line, in a few words; absent when nothing is. */
  readonly damage?: string;
  /** Set when the line says it is of a newer version, which is looked at before anything else. */
  readonly newerVersion?: number;
  /** Ids a damaged line still shows at its beginning, so that the records around it can be joined. */
  readonly ghost?: { readonly id: string; readonly parent: string | null };
}

/**
 * Takes a line apart, without its newline. A blank line is nothing and no damage. Of a damaged line every
 * record in it whose checksum is right is used: two that were merged, or one behind a torn one.
 */
export function decodeLine(line: Uint8Array, sumOf: Checksum = checksum): DecodedLine {
  const bytes = withoutReturn(line);
  if (isBlank(bytes)) return { records: [] };
  const version = versionOf(bytes);
  if (typeof version === "number" && version > RECORD_VERSION) return { records: [], newerVersion: version };
  const whole =
    version === RECORD_VERSION ? recordAt(bytes, { start: 0, end: bytes.length, sumOf }) : undefined;
  if (whole !== undefined) return { records: [whole] };
  return salvage(bytes, { version, sumOf });
}

const RETURN = 13;

/** A program that converts line ends does not damage a record. */
function withoutReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.length < 80 && latin1(bytes, 0, bytes.length).trim() === "";
}

/** The version a line claims: that of its first field, else the field `v` of a line that is JSON. */
function versionOf(bytes: Uint8Array): unknown {
  const head = /^\{"v":(\d{1,9})[,}]/.exec(latin1(bytes, 0, 16));
  if (head !== null) return Number(head[1]);
  const value = parsed(bytes);
  return isRecord(value) ? value["v"] : undefined;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8"));
  } catch {
    // Broken JSON has no version; the checksum will say that the line is damaged.
    return undefined;
  }
}

interface Candidate {
  readonly start: number;
  readonly end: number;
  readonly sumOf: Checksum;
}

/** The record that stands between two places; undefined when its checksum is wrong or it is no record. */
function recordAt(bytes: Uint8Array, { start, end, sumOf }: Candidate): RecordPlace | undefined {
  const bodyEnd = end - SUM_BYTES;
  if (bodyEnd <= start) return undefined;
  const sum = /^,"sum":"([0-9a-f]{8})"\}$/.exec(latin1(bytes, bodyEnd, end))?.[1];
  if (sum === undefined || sum !== sumOf(bytes.subarray(start, bodyEnd))) return undefined;
  const head = headOf(bytes, start) ?? fieldsOf(parsed(bytes.subarray(start, end)));
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

/** Most tries on one line and bytes hashed for them: damage must not cost more than reading. */
const MAX_TRIES = 64;
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

interface SalvageFacts {
  readonly version: unknown;
  readonly sumOf: Checksum;
}

function salvage(bytes: Uint8Array, { version, sumOf }: SalvageFacts): DecodedLine {
  const text = latin1(bytes, 0, bytes.length);
  const newer = newerBehind(text);
  if (newer !== undefined) return { records: [], newerVersion: newer };
  const records = recordsWithin(bytes, text, sumOf);
  const ids = IDS.exec(text.slice(0, HEAD_BYTES));
  const [, id] = ids ?? [];
  const isLost = id !== undefined && records.every((record) => record.id !== id);
  return {
    records,
    damage: damageOf({ bytes, text, records, version }),
    ...(isLost ? { ghost: { id, parent: ids?.[2] ?? null } } : {}),
  };
}

/** JSON never holds `"}{"`, since quotes in a text are escaped: it is the seam of two merged records. */
function newerBehind(text: string): number | undefined {
  for (const [, digits] of text.matchAll(/"\}\{"v":(\d{1,9})[,}]/g))
    if (Number(digits) > RECORD_VERSION) return Number(digits);
  return undefined;
}

function recordsWithin(bytes: Uint8Array, text: string, sumOf: Checksum): RecordPlace[] {
  const ends = [...text.matchAll(/,"sum":"[0-9a-f]{8}"\}/g)].map((match) => match.index + SUM_BYTES);
  const records: RecordPlace[] = [];
  let tries = 0;
  let hashed = 0;
  let from = 0;
  for (const { index: start } of text.matchAll(/\{"v":1,/g)) {
    if (start < from) continue;
    for (const end of ends) {
      if (end <= start) continue;
      if (++tries > MAX_TRIES || (hashed += end - start) > MAX_HASHED_BYTES) return records;
      const record = recordAt(bytes, { start, end, sumOf });
      if (record === undefined) continue;
      records.push(record);
      from = end;
      break;
    }
  }
  return records;
}

interface SalvagedEntry {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly records: readonly RecordPlace[];
  readonly version: unknown;
}

function damageOf({ bytes, text, records, version }: SalvagedEntry): string {
  const used = records.reduce((sum, { start, end }) => sum + end - start, 0);
  if (records.length > 0 && used === bytes.length) return `${records.length} records on one line, all used`;
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
