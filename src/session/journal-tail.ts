import { closeSync, readSync, statSync } from "node:fs";
import type { JournalEntry } from "../core/agent/entries.ts";
import { inspectSession, isJournalEntry, parseRecord, readEntries, readLines } from "./read-session.ts";
import { decodeLine } from "./record.ts";
import { openSessionFile } from "./session-file.ts";

/**
 * A place in a session file that others write: it reads on from there, whoever writes and however the file
 * grows. What was read once is not read again, unless the session was rewound.
 */
export class JournalTail {
  readonly #path: string;
  /** Id of the last record that was given, of whatever type. */
  #last: string | undefined;
  /** Where the first line begins that was not looked at yet. */
  #offset = 0;
  /** True until the file was read from its beginning once. */
  #isNew = true;

  /** Goes on behind the entry `after`, from the first without one, and where there is none of that id. */
  constructor(path: string, after?: string) {
    this.#path = path;
    this.#last = after;
  }

  /**
   * The entries since the last call; `"reset"` comes first where those given before are not those the
   * conversation goes on from, and then all. Throws `journal` for what cannot be read.
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

  /** Reads what was appended, as long as each record follows the one before. */
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
    // A line that has no end yet is looked at again.
    this.#offset = newest === undefined ? 0 : newest.offset + newest.length + 1;
    yield* readEntries(descriptor, path.slice(known + 1));
  }
}

/** True where a line ends right before a place: else a record followed on the line of the last one. */
function endsLine(descriptor: number, place: number): boolean {
  if (place === 0) return true;
  const byte = Buffer.alloc(1);
  return readSync(descriptor, byte, 0, 1, place - 1) === 1 && byte[0] === 10;
}
