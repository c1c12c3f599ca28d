import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { makePrivateFolders } from "./private-folders.ts";

test("folders are made one in the other, and only those that are missing", () => {
  const root = tempFolder({ "a/file": "" });
  const paths = ["a/b", "a/b/c"].map((path) => join(root, path));
  expect([makePrivateFolders(join(root, "a/b/c")), makePrivateFolders(join(root, "a/b/c"))]).toEqual([
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
  makePrivateFolders(join(root, "a/b"), make);
  expect(existsSync(join(root, "a/b"))).toBe(true);
});

test("a file in the way is an error of the system", () => {
  const root = tempFolder({ file: "" });
  expect(() => makePrivateFolders(join(root, "file/a"))).toThrow("ENOTDIR");
});

test.runIf(existsSync("/proc/self"))(
  "a folder that is there and takes no other ends with what the system says",
  () => {
    expect(() => makePrivateFolders("/proc/no-such-place/a/b")).toThrow("ENOENT");
  },
);
