import { readSync } from "node:fs";
import { MAX_RECORD_BYTES } from "./record.ts";

/** A line of a file, without its newline. `bytes` stand until the next line is asked for. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Place of its first byte in the file. */
  readonly offset: number;
  readonly bytes: Uint8Array;
  /** False for the last line of a file that does not end in a newline. */
  readonly isEnded: boolean;
  /** True when the line is longer than a record can be; `bytes` is then empty. */
  readonly isTooLong: boolean;
}

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 10;

/** The lines of an open file from its beginning, in little memory whatever its size. */
export function* readLines(descriptor: number): Generator<Line, void, undefined> {
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  /** Bytes of `buffer` that are filled, and where the line at hand begins in it. */
  let filled = 0;
  let start = 0;
  /** Place of `buffer`'s first byte in the file. */
  let base = 0;
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

  /** Moves the line's beginning to the front; takes a larger buffer for a line that fills this one. */
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
