import type { EntryBase, JournalEntry } from "../core/agent/entries.ts";
import { errorMessage, NanoAgentError } from "../core/base/errors.ts";
import { MAX_JSON_DEPTH } from "../core/base/json.ts";
import { checksum } from "./checksum.ts";

/** Version of the record format this code writes. It reads this one and refuses newer ones. */
export const RECORD_VERSION = 1;

/** The longest record, in bytes of its line. A longer one is neither written nor read. */
export const MAX_RECORD_BYTES: number = 256 * 1024 * 1024;

/** The first record of a session file. */
export interface SessionEntry extends EntryBase {
  readonly type: "session";
  readonly sessionId: string;
  /** Working folder of the session, links resolved. */
  readonly cwd: string;
  /** Session this one is a copy of, and the record after which the two differ. */
  readonly forkedFrom?: { readonly sessionId: string; readonly entry: string | null };
  /** Where it was imported from: the program, and what its file says of id and folder. */
  readonly importedFrom?: { readonly program: string; readonly sessionId?: string; readonly cwd?: string };
}

/** The conversation goes on from an older record, its parent; what came after is kept, set aside. */
export interface RewindEntry extends EntryBase {
  readonly type: "rewind";
  /** The newest record until then. */
  readonly from: string | null;
}

/** Everything this version writes to a session file. */
export type StoredEntry = JournalEntry | SessionEntry | RewindEntry;

interface EncodedRecord<E extends EntryBase> {
  /** One line, its newline included. */
  readonly bytes: Uint8Array;
  /** The entry as a reader of the line gets it, with characters replaced that JSON or UTF-8 cannot hold. */
  readonly entry: E;
}

/**
 * The line of an entry: `{"v":1,"id":…,"parent":…,"time":…,"type":…, …fields…,"sum":"<8 hex digits>"}`. `sum`
 * is the {@link checksum} of the line's bytes before `,"sum":`. Lone surrogates become U+FFFD; what JSON
 * cannot hold becomes a text that says so. Throws `journal` for a record longer than
 * {@link MAX_RECORD_BYTES}.
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
export const SUM_BYTES = 18;

/** How the escape of a lone surrogate begins, which `JSON.stringify` makes of nothing else. */
const SURROGATE_ESCAPE = "\\ud";

/** The JSON text of a value that survives it unchanged; undefined for any other. */
function plainJson(record: object): string | undefined {
  try {
    const text = JSON.stringify(record);
    return text.includes(SURROGATE_ESCAPE) ? undefined : text;
  } catch {
    // A cycle, a BigInt, a throwing toJSON: the careful conversion deals with it.
    return undefined;
  }
}

/** The JSON text of a value, with characters and parts replaced that JSON or UTF-8 cannot hold. */
export function storableJson(value: object): string {
  return plainJson(value) ?? carefulJson(value);
}

function carefulJson(value: object): string {
  return JSON.stringify(plain(value, []));
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
 * A copy of `value` that JSON and UTF-8 can hold: lone surrogates become U+FFFD, a cycle, a BigInt, a
 * throwing getter or `toJSON` and anything deeper than {@link MAX_JSON_DEPTH} become a text in brackets.
 * `above` holds the objects around it. Never throws.
 */
function plain(value: unknown, above: readonly object[]): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "bigint") return `${value}`;
  if (typeof value !== "object" || value === null) return value;
  if (above.includes(value)) return "[circular]";
  if (above.length >= MAX_JSON_DEPTH) return "[nested too deep]";
  const around = [...above, value];
  try {
    if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON(), around);
    if (Array.isArray(value)) return value.map((item: unknown) => plain(item, around));
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key.toWellFormed(), plain(item, around)]),
    );
  } catch (error) {
    return `[not serialisable: ${errorMessage(error).toWellFormed()}]`;
  }
}
