import { expect, test } from "vitest";
import type { OmissionReason } from "../../core/agent/entries.ts";
import { isSkippedForGood, skippedNotices } from "./session-checkpoints.ts";

function noticesOf(...places: readonly (readonly [path: string, reason: OmissionReason])[]) {
  const gaps = places.map(([path, reason]) => ({ path, reason })).filter(isSkippedForGood);
  return skippedNotices("/w", gaps).map((notice) =>
    notice.replace("; what commands change there is not kept.", ""),
  );
}

test("the outermost places are named one by one, the others by their number", () => {
  expect(
    noticesOf(
      ["a/b/c", "too_many_files"],
      ["a/d/e", "mount"],
      ["a/b/d", "too_many_files"],
      ["a/b/e", "too_many_files"],
      ["big", "too_many_files"],
      ["data", "mount"],
      ["a/c", "too_many_files"],
    ),
  ).toEqual([
    "undo: /w/big has too many files",
    "undo: /w/data is another file system",
    "undo: /w/a/c has too many files",
    "undo: /w/a/b/c has too many files",
    "undo: /w/a/d/e is another file system",
    "undo: what commands change in 2 other folders below /w is not kept.",
  ]);
});

test("a deeper place is named, and so is the root; what is noted for other reasons is not", () => {
  expect([
    noticesOf(["a/b", "too_many_files"]),
    noticesOf(["a/m", "mount"]),
    noticesOf(["", "too_many_files"]),
    noticesOf(["", "unreadable"]),
    noticesOf(["", "no_time"], ["a", "no_time"], ["b", "unreadable"], ["c/d", "too_large"]),
  ]).toEqual([
    ["undo: /w/a/b has too many files"],
    ["undo: /w/a/m is another file system"],
    ["undo: /w has too many files"],
    ["undo: /w cannot be read"],
    [],
  ]);
});
