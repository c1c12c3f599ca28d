import { expect, test } from "vitest";
import type { OmissionReason } from "../../core/agent/entries.ts";
import { gapNotices, isGap } from "./session-checkpoints.ts";

function noticesOf(...places: readonly (readonly [path: string, reason: OmissionReason])[]) {
  const gaps = places.map(([path, reason]) => ({ path, reason })).filter(isGap);
  return gapNotices("/w", gaps).map((notice) =>
    notice.replace("; what commands change there is not kept.", ""),
  );
}

test("places at the top are named one by one, deeper ones by their number and the first of them", () => {
  expect(
    noticesOf(
      ["big", "too_many_files"],
      ["data", "mount"],
      ["a/b", "too_many_files"],
      ["a/c", "too_many_files"],
      ["a/d/e", "mount"],
    ),
  ).toEqual([
    "undo: /w/big has too many files",
    "undo: /w/data is another file system",
    "undo: 3 folders below /w, among them a/b, have too many files or are other file systems",
  ]);
});

test("a single deeper place is named, and so is the root; what is noted for other reasons is not", () => {
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
