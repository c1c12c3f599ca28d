import { mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { resolvePath } from "./resolve-path.ts";

function folderWithLinks(): string {
  const root = realpathSync(tempFolder({ "real/deep/a.txt": "a", "文件.txt": "b" }));
  symlinkSync("real/deep", join(root, "link"));
  symlinkSync("later.txt", join(root, "dangling"));
  symlinkSync(join(root, "real"), join(root, "absolute"));
  symlinkSync("circle", join(root, "circle"));
  mkdirSync(join(root, "home"));
  return root;
}

test.each([
  ["a.txt", "a.txt"],
  ["./文件.txt", "文件.txt"],
  ["link/a.txt", "real/deep/a.txt"],
  ["link/../x", "real/x"],
  ["link/new/b.txt", "real/deep/new/b.txt"],
  ["dangling", "later.txt"],
  ["absolute/deep", "real/deep"],
  ["circle", "circle"],
  ["~/x", "home/x"],
  ["~", "home"],
  ["~user/x", "~user/x"],
  ["real/deep/a.txt/x", "real/deep/a.txt/x"],
  ["nothing/../b", "b"],
])("%s is resolved to %s", (path, expected) => {
  const root = folderWithLinks();
  expect(resolvePath(path, { cwd: root, home: join(root, "home") })).toBe(join(root, expected));
});

test("the working folder's own links are followed", () => {
  const root = folderWithLinks();
  expect(resolvePath("a.txt", { cwd: join(root, "link") })).toBe(join(root, "real/deep/a.txt"));
});

test("a name is found by another spelling that Unicode holds for the same, and kept where it is there", () => {
  const root = realpathSync(tempFolder({ "cafe\u0301/re\u0301.txt": "", "u\u0308": "", "\u00fc": "" }));
  const resolved = ["caf\u00e9/r\u00e9.txt", "caf\u00e9/new \u00e9", "\u00fc", "u\u0308"].map((path) =>
    resolvePath(path, { cwd: root }).slice(root.length + 1),
  );
  expect(resolved).toEqual(["cafe\u0301/re\u0301.txt", "cafe\u0301/new \u00e9", "\u00fc", "u\u0308"]);
});
