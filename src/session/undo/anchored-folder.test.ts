import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { openDirectory } from "./file-changes.ts";
import { keyOfBytes } from "./path-state.ts";

test("a link in the place of a folder, the last one or one on the way, is not followed", () => {
  const root = tempFolder({ "real/inner/file": "" });
  symlinkSync("real", join(root, "link"));
  symlinkSync("inner", join(root, "real/last"));
  const refusals = ["link/inner", "real/last"].map((key) => {
    try {
      openDirectory(root, key).close();
      return "opened";
    } catch (error) {
      return String(error);
    }
  });
  expect(refusals).toEqual([
    expect.stringContaining("a link took the place of one of its folders"),
    expect.stringContaining("ENOTDIR"),
  ]);
});

test("entries are those of the folder that was opened, names that are no text too", () => {
  const name = Buffer.from([0x61, 0xff]);
  const root = tempFolder({ "a/b/file": "inside" });
  mkdirSync(Buffer.concat([Buffer.from(`${root}/a/`), name]));
  const folder = openDirectory(root, "a");
  try {
    expect(existsSync(folder.entry(keyOfBytes(name)))).toBe(true);
    expect(readFileSync(folder.entry("b/file"), "utf8")).toBe("inside");
  } finally {
    folder.close();
  }
});

test.runIf(existsSync("/proc/self/fd"))(
  "a folder that is exchanged while it is open stays the one it was",
  () => {
    const root = tempFolder({ "a/file": "mine", "b/file": "theirs" });
    const folder = openDirectory(root, "a");
    try {
      renameSync(join(root, "a"), join(root, "moved"));
      symlinkSync("b", join(root, "a"));
      writeFileSync(folder.entry("new"), "");
      expect([readFileSync(folder.entry("file"), "utf8"), existsSync(join(root, "moved/new"))]).toEqual([
        "mine",
        true,
      ]);
    } finally {
      folder.close();
    }
  },
);
