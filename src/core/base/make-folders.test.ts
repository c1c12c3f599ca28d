import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { makeFolders } from "./make-folders.ts";

const calls = {
  exists: existsSync,
  parentOf: dirname,
  make: (path: string): void => {
    mkdirSync(path);
  },
};

test("folders are made one in the other, and only those that are missing", () => {
  const root = tempFolder({ "a/file": "" });
  const paths = ["a/b", "a/b/c"].map((path) => join(root, path));
  expect([makeFolders(join(root, "a/b/c"), calls), makeFolders(join(root, "a/b/c"), calls)]).toEqual([
    paths,
    [],
  ]);
  expect(existsSync(join(root, "a/b/c"))).toBe(true);
});

test("a folder that somebody else makes at the same moment is as good", () => {
  const root = tempFolder();
  const make = (path: string): void => {
    mkdirSync(path);
    mkdirSync(path);
  };
  makeFolders(join(root, "a/b"), { ...calls, make });
  expect(existsSync(join(root, "a/b"))).toBe(true);
});

test("a file in the way is an error of the system", () => {
  const root = tempFolder({ file: "" });
  expect(() => makeFolders(join(root, "file/a"), calls)).toThrow("ENOTDIR");
});

test.runIf(existsSync("/proc/self"))(
  "a folder that is there and takes no other ends with what the system says",
  () => {
    expect(() => makeFolders("/proc/no-such-place/a/b", calls)).toThrow("ENOENT");
  },
);
