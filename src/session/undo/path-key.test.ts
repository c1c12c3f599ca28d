import fc from "fast-check";
import { expect, test } from "vitest";
import {
  bytesOfKey,
  childKey,
  foldersAbove,
  isSafeKey,
  isWithin,
  keyOfBytes,
  keyWithin,
  parentKey,
  partsOf,
} from "./path-state.ts";

/** Names as a file system may hold them: any bytes but NUL and the slash. */
const name = fc
  .uint8Array({ minLength: 1, maxLength: 5 })
  .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 0 || byte === 0x2f ? 0xff : byte))));

test("a key says its bytes, and its parts and folders are those of the bytes", () => {
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
      const parts = names.map(keyOfBytes);
      const key = parts.reduce(childKey, "");
      expect(bytesOfKey(key)).toEqual(
        Buffer.concat(names.flatMap((each, at) => (at === 0 ? [each] : [Buffer.from("/"), each]))),
      );
      expect(partsOf(key)).toEqual(parts);
      expect(key.isWellFormed()).toBe(true);
      const above = foldersAbove(key);
      expect(above).toHaveLength(names.length - 1);
      expect(parentKey(key)).toBe(above.at(-1) ?? "");
      for (const folder of above)
        expect([isWithin(key, folder), isWithin(folder, key)]).toEqual([true, false]);
    }),
  );
});

test("only plain parts below the root, outside of repositories' own folders, are put back", () => {
  const bad = [
    "",
    "..",
    "a/../b",
    "/etc",
    "a//b",
    ".",
    ".git",
    "a/.git/config",
    "\0",
    "\0..",
    "\0a/../b",
    7,
    null,
  ];
  expect(bad.map(isSafeKey)).toEqual(bad.map(() => false));
  expect(["a", "a/b", ".gitignore", "\0\u00ff", "a b/ü"].map(isSafeKey)).toEqual([
    true,
    true,
    true,
    true,
    true,
  ]);
});

test("an absolute path is within a root or it is not", () => {
  expect([
    keyWithin("/w", "/w/a/b"),
    keyWithin("/", "/a"),
    keyWithin("/w", "/wide/a"),
    keyWithin("/w", "/w"),
  ]).toEqual(["a/b", "a", undefined, undefined]);
});
