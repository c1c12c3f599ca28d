import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { gitFoldersAround } from "./read-suites.ts";

test("every repository around a folder counts, of a worktree also the one it belongs to", () => {
  const root = realpathSync(tempFolder());
  const [outer, main] = [join(root, "outer"), join(root, "main")];
  const git = (cwd: string, ...args: readonly string[]): void =>
    void execFileSync("git", ["-C", cwd, "-c", "user.name=a", "-c", "user.email=a@b.example", ...args]);
  for (const folder of [outer, main]) {
    mkdirSync(folder);
    git(folder, "init", "-q");
  }
  git(main, "commit", "-q", "--allow-empty", "-m", "one");
  git(main, "worktree", "add", "-q", join(outer, "tree"));
  mkdirSync(join(outer, "tree/suite"));
  expect(gitFoldersAround(join(outer, "tree/suite")).filter((path) => path.startsWith(root))).toEqual([
    join(main, ".git/worktrees/tree"),
    join(main, ".git"),
    join(outer, ".git"),
  ]);
});

test("a .git that leads nowhere is closed itself", () => {
  const root = realpathSync(tempFolder());
  writeFileSync(join(root, ".git"), "nothing of use");
  expect(gitFoldersAround(root).filter((path) => path.startsWith(root))).toEqual([join(root, ".git")]);
});
