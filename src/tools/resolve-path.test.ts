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
