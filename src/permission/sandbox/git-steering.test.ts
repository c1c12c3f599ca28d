import { existsSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { gitSteering, isBare, refuseAsBare } from "./git-steering.ts";

test.each([
  ["all parts of one", { HEAD: "", "objects/x": "", "refs/x": "" }, true],
  ["a pointer to the others", { HEAD: "", commondir: "y" }, true],
  ["no branches", { HEAD: "", "objects/x": "" }, false],
  ["a folder in the place of its head", { "HEAD/x": "", "objects/x": "", "refs/x": "" }, false],
  ["nothing of it", { "README.md": "" }, false],
])("a folder with %s may be a repository or not, and none once git was told to refuse it", (_, files, is) => {
  const folder = tempFolder(files);
  const before = isBare(folder);
  refuseAsBare(folder);
  const isFolder = statSync(join(folder, "commondir")).isDirectory();
  expect([before, isBare(folder), isFolder, existsSync(join(folder, "HEAD"))]).toEqual([
    is,
    false,
    true,
    "HEAD" in files || "HEAD/x" in files,
  ]);
});

// Whoever opened a pipe would wait, and not all files of the system have an end.
test.runIf(existsSync("/proc/self/status"))("a pointer that is no plain file leads nowhere", () => {
  const folder = tempFolder({ ".git": "gitdir: meta\n", "meta/HEAD": "", "meta/commondir": "" });
  const before = gitSteering(folder);
  rmSync(join(folder, "meta/commondir"));
  symlinkSync("/proc/self/status", join(folder, "meta/commondir"));
  expect(gitSteering(folder)).toEqual(before);
});
