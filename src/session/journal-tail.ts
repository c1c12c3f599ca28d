import { closeSync, readSync, statSync } from "node:fs";
import type { JournalEntry } from "../core/agent/entries.ts";
import { inspectSession, isJournalEntry, parseRecord, readEntries, readLines } from "./read-session.ts";
import { decodeLine } from "./record.ts";
import { openSessionFile } from "./session-file.ts";

/**
 * A position in a session file that others write: reads on from there, whichever process writes and however
 * the file grows. Nothing is read twice, unless the session was rewound.
 */
export class JournalTail {
  readonly #path: string;
  /** Id of the last record that was read, of whatever type. */
  #last: string | undefined;
  /** Offset of the first line that has not been read. */
  #offset = 0;
  /** True until the file has been read from its beginning once. */
  #isNew = true;

  /** Continues after the entry `after`; from the first without one, or if there is none with that id. */
  constructor(path: string, after?: string) {
    this.#path = path;
    this.#last = after;
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
      const isBehindLine = !this.#isNew && size > this.#offset && endsLine(descriptor, this.#offset);
      yield* isBehindLine ? this.#readOn(descriptor) : this.#readAll(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Reads appended lines as long as each record follows the one before. */
  *#readOn(descriptor: number): Generator<JournalEntry | "reset", void, undefined> {
    for (const { offset, bytes, isEnded, isTooLong } of readLines(descriptor, this.#offset)) {
      if (!isEnded) return;
      if (isTooLong) return yield* this.#readAll(descriptor);
      const { records } = decodeLine(bytes);
      const entries: JournalEntry[] = [];
      for (const { id, parent, start, end: stop } of records) {
        const record = parseRecord(Buffer.from(bytes.subarray(start, stop)).toString("utf8"));
        if (parent !== this.#last || record === undefined || record.type === "rewind")
          return yield* this.#readAll(descriptor);
        this.#last = id;
        if (isJournalEntry(record)) entries.push(record);
      }
      this.#offset = offset + bytes.length + 1;
      yield* entries;
    }
  }

  *#readAll(descriptor: number): Generator<JournalEntry | "reset", void, undefined> {
    const { scan, path } = inspectSession(descriptor, this.#path);
    const known = this.#last === undefined ? -1 : path.findLastIndex(({ id }) => id === this.#last);
    if (this.#last !== undefined && known === -1) yield "reset";
    const newest = scan.records.at(-1);
    this.#isNew = false;
    this.#last = path.at(-1)?.id;
    // An unfinished line is read again.
    this.#offset = newest === undefined ? 0 : newest.offset + newest.length + 1;
    yield* readEntries(descriptor, path.slice(known + 1));
  }
}

/** True if a line ends right before an offset: else a record followed on the line of the last one. */
function endsLine(descriptor: number, place: number): boolean {
  if (place === 0) return true;
  const byte = Buffer.alloc(1);
  return readSync(descriptor, byte, 0, 1, place - 1) === 1 && byte[0] === 10;
}
