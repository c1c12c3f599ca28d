import { describe, expect, test } from "vitest";
import { isWrittenByGit } from "./git-written-settings.ts";

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

describe("settings that git itself writes", () => {
  test("are those of a clone", () => expect(isWrittenByGit(CLONED)).toBe(true));

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
  ])("are not %s", (_name, more) => expect(isWrittenByGit(CLONED + more, CLONED)).toBe(false));

  test("may hold what stood in the same section before, and nowhere else", () => {
    const before = "[alias]\n\tfsmonitor = evil\n";
    expect([
      isWrittenByGit(CLONED + before, before),
      isWrittenByGit(`${CLONED}[core]\n\tfsmonitor = evil\n`, before),
    ]).toEqual([true, false]);
  });
});
