import fc from "fast-check";
import { expect, test } from "vitest";
import { type FileState, isUnchanged } from "./path-state.ts";

/** Milliseconds of a clock that counts in units of `unitMs`. */
const rounded = (ms: number, unitMs: number): number => Math.floor(ms / unitMs) * unitMs;

test("a write after a look shows, by the facts or because the look came too soon after the write before it", () => {
  // From multigrain timestamps over ticks of the kernel's clock to exFAT, ext3 and FAT.
  const unit = fc.constantFrom(1 / 1024, 1, 4, 10, 1000, 2000);
  const delay = fc.oneof(
    fc.double({ min: 0, max: 20, noNaN: true }),
    fc.double({ min: 0, max: 5000, noNaN: true }),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 1e12, max: 2e12 }),
      unit,
      delay,
      delay,
      (writtenAt, unitMs, untilLook, untilWrite) => {
        const ctimeMs = rounded(writtenAt + 0.123, unitMs);
        const facts = { mode: 0o100644, size: 1, mtimeMs: ctimeMs, ino: 7, ctimeMs };
        const checkedAt = Math.floor(writtenAt + untilLook);
        const state: FileState = { ...facts, checkedAt, version: null };
        const later = { ...facts, ctimeMs: rounded(writtenAt + untilLook + untilWrite + 0.123, unitMs) };
        expect(isUnchanged(state, later)).toBe(false);
      },
    ),
  );
});

test.each([
  { ctimeMs: 1_700_000_000_123.456, after: 101, unchanged: true },
  { ctimeMs: 1_700_000_000_123.456, after: 99, unchanged: false },
  { ctimeMs: 1_700_000_000_120, after: 101, unchanged: false },
  { ctimeMs: 1_700_000_000_120, after: 2001, unchanged: true },
])("a file changed at $ctimeMs and read $after ms later is read again: not $unchanged", (row) => {
  const facts = { mode: 0, size: 0, mtimeMs: 0, ino: 0, ctimeMs: row.ctimeMs };
  const state: FileState = { ...facts, checkedAt: row.ctimeMs + row.after, version: null };
  expect(isUnchanged(state, facts)).toBe(row.unchanged);
});
