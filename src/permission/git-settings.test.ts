import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { isWrittenByGit, linesNotWrittenByGit } from "./git-settings.ts";

const hasGit = spawnSync("git", ["--version"]).status === 0;

test.skipIf(!hasGit)("what git itself writes into a config is known as such (needs git)", () => {
  const root = tempFolder();
  const clone = join(root, "clone");
  const git = (cwd: string, ...args: readonly string[]): void => {
    const env = { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
    const { status, stderr } = spawnSync("git", args, { cwd, env, encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
  };
  mkdirSync(join(root, "origin"));
  git(join(root, "origin"), "init", "-q", "-b", "main");
  git(join(root, "origin"), "config", "user.name", "Jane O'Neil (work)");
  git(join(root, "origin"), "config", "user.email", "jane@example.com");
  git(join(root, "origin"), "commit", "-q", "--allow-empty", "-m", "first");
  git(root, "clone", "-q", "origin", "clone");
  git(clone, "checkout", "-q", "-b", "side/one", "--track", "origin/main");
  git(clone, "remote", "add", "fork", "git@example.com:me/x.git");
  git(clone, "worktree", "add", "-q", join(root, "tree"));
  const texts = ["origin", "clone"].map((name) => readFileSync(join(root, name, ".git/config"), "utf8"));
  expect(texts.map(linesNotWrittenByGit)).toEqual([[], []]);
  expect(texts[1]).toContain('[branch "side/one"]');
});

test("what makes git run something, or leads it elsewhere, is more than git writes, however it is spelled", () => {
  const more = [
    "[core]\n\tfsmonitor = ./evil",
    "[core]\n\thooksPath = .hooks",
    "[core]\n\tworktree = /",
    "[core] fsmonitor = ./evil",
    "[core]\n\tbare = false\n fsmonitor = ./evil",
    "[core]\n\tbare = \\\nfsmonitor = ./evil",
    "[core]\n\tbare = false # x\n\tpager = ./evil",
    "[CORE]\n\tpager = ./evil",
    '[core ""]\n\tbare = false',
    "[user]\n\tname = a\r[core]\r\tpager = ./evil",
    "[include]\n\tpath = ../evil",
    '[includeIf "gitdir:/"]\n\tpath = ../evil',
    "[alias]\n\tst = !./evil",
    '[diff "x"]\n\ttextconv = ./evil',
    '[filter "x"]\n\tclean = ./evil',
    '[remote "origin"]\n\turl = ext::./evil',
    '[remote "origin"]\n\tuploadpack = ./evil',
    '[remote "origin"]\n\turl = --upload-pack=./evil',
    '[branch "a"]\n\tremote = ext::./evil',
    '[submodule "a"]\n\tupdate = !./evil',
    "\tbare = false",
    "[credential]\n\thelper = ./evil",
    "[extensions]\n\tworktreeConfig",
    "\ufeff[core]",
  ];
  expect(more.filter((text) => isWrittenByGit(text))).toEqual([]);
  expect(
    linesNotWrittenByGit("[core]\n\tbare = false\n\tfsmonitor = ./evil\n[alias]\n\tst = status\n"),
  ).toEqual(["core fsmonitor = ./evil", "[alias]", "alias st = status"]);
  expect(isWrittenByGit("")).toBe(true);
});

const CLONED = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	logallrefupdates = true
[remote "origin"]
	url = git@github.com:a/b.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "feat/x"]
	remote = origin
	merge = refs/heads/feat/x
[user]
	name = Jo O Neil
	email = jo@example.com
`;

test.each([
  ["a program", "[core]\n\tfsmonitor = evil\n"],
  ["a pager of a command", "[pager]\n\tlog = evil\n"],
  ["an address that is a program", '[remote "o"]\n\turl = ext::sh -c evil\n'],
  ["an address that is an option", '[remote "o"]\n\turl = --upload-pack=evil\n'],
  ["a program for the address", '[remote "o"]\n\tuploadpack = evil\n'],
  ["other settings", "[include]\n\tpath = ../evil\n"],
  ["a header with an entry", "[core] fsmonitor = evil\n"],
  ["a header in the old form", "[core.x]\n\tbare = true\n"],
  ["an entry without blanks", "[core]\n\tfsmonitor=evil\n"],
  ["a line that goes on", "[user]\n\tname = a \\\n[core]\n\tbare = true\n"],
  ["a carriage return that starts a line", "[user]\n\tname = a\r\tb\n"],
])("beside what was there before %s is more than git writes", (_name, more) =>
  expect(isWrittenByGit(CLONED + more, CLONED)).toBe(false),
);

test("what was there before may stay, in the same section and as it was", () => {
  const before =
    '[alias]\n\tfsmonitor = evil\n\tst = !a \\\n\tb\n[remote "o"]\n\tuploadpack = x\n[CORE]\n\tpager = less\n';
  expect(isWrittenByGit(CLONED + before, before)).toBe(true);
  for (const changed of [
    "[core]\n\tfsmonitor = evil\n",
    "[alias]\n\tst = !a \\\n\turl = evil\n",
    '[remote "p"]\n\tuploadpack = x\n',
    "[core]\n\tpager = less\n",
  ])
    expect(isWrittenByGit(CLONED + changed, before)).toBe(false);
});
