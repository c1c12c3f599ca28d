import { closeSync, readSync, statSync } from "node:fs";
import type { JournalEntry } from "../core/agent/entries.ts";
import { inspectSession, isJournalEntry, parseRecord, readEntries, readLines } from "./read-session.ts";
import { decodeLine } from "./record.ts";
import { openSessionFile } from "./session-file.ts";

/**
 * A position in a session file that any process writes. Reads what was appended since; all of it again only
 * after a rewind.
 */
export class JournalTail {
  readonly #path: string;
  /** Id of the last record that was read, of whatever type. */
  #lastId: string | undefined;
  /** Offset of the first line that has not been read. */
  #offset = 0;
  /** True until the file has been read from its beginning once. */
  #isUnread = true;

  /** Continues after the entry `after`; from the first without one, or if there is none with that id. */
  constructor(path: string, after?: string) {
    this.#path = path;
    this.#lastId = after;
  }

  /**
   * The entries since the last call. If the entries given before are no longer part of the conversation,
   * `"reset"` comes first, then all entries. Throws `journal` if the file cannot be read.
   */
  *read(): Generator<JournalEntry | "reset", void, undefined> {
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    if (size === this.#offset) return;
    const descriptor = openSessionFile(this.#path, "read");
    try {
      const followsLine = !this.#isUnread && size > this.#offset && isLineEnd(descriptor, this.#offset);
      yield* followsLine ? this.#readAppended(descriptor) : this.#readAll(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Reads appended lines as long as each record follows the one before. */
  *#readAppended(descriptor: number): Generator<JournalEntry | "reset", void, undefined> {
    for (const { offset, bytes, isEnded, isTooLong } of readLines(descriptor, this.#offset)) {
      if (!isEnded) return;
      if (isTooLong) return yield* this.#readAll(descriptor);
      const { records } = decodeLine(bytes);
      const entries: JournalEntry[] = [];
      for (const { id, parent, start, end: stop } of records) {
        const record = parseRecord(Buffer.from(bytes.subarray(start, stop)).toString("utf8"));
        if (parent !== this.#lastId || record === undefined || record.type === "rewind")
          return yield* this.#readAll(descriptor);
        this.#lastId = id;
        if (isJournalEntry(record)) entries.push(record);
      }
      this.#offset = offset + bytes.length + 1;
      yield* entries;
    }
  }

  *#readAll(descriptor: number): Generator<JournalEntry | "reset", void, undefined> {
    const { scan, path } = inspectSession(descriptor, this.#path);
    const index = this.#lastId === undefined ? -1 : path.findLastIndex(({ id }) => id === this.#lastId);
    if (this.#lastId !== undefined && index === -1) yield "reset";
    const newest = scan.records.at(-1);
    this.#isUnread = false;
    this.#lastId = path.at(-1)?.id;
    // An unfinished line is read again.
    this.#offset = newest === undefined ? 0 : newest.offset + newest.length + 1;
    yield* readEntries(descriptor, path.slice(index + 1));
  }
}

/** False if the last record that was read shares its line with a later one. */
function isLineEnd(descriptor: number, offset: number): boolean {
  if (offset === 0) return true;
  const byte = Buffer.alloc(1);
  return readSync(descriptor, byte, 0, 1, offset - 1) === 1 && byte[0] === 10;
}
