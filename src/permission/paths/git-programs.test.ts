import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { gitPrograms } from "./git-programs.ts";
import { settingsIn } from "./git-settings.ts";

const programs = (config: string, more: Readonly<Record<string, string>> = {}) =>
  gitPrograms(tempFolder({ ".git/config": config, ...more }));

test("settings that only say how git looks are none, those of git-lfs neither", () => {
  const lfs =
    "clean = git-lfs clean -- %f\n smudge = git-lfs smudge -- %f\n process = git-lfs filter-process";
  for (const config of [
    "",
    '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://x.example/y\n\tfetch = +refs/*:refs/*\n',
    "[core]\n\thooksPath = .husky/_\n\tfsmonitor = ./evil\n\tpager = ./evil\n",
    `[filter "lfs"]\n ${lfs}\n required = true\n`,
    "no section = x\n",
    '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n\tvscode-merge-base = origin/main\n\tgithub-pr-owner-number = "a#b#1"\n',
    '[submodule]\n\tactive = .\n[submodule "lib"]\n\turl = https://x.example/lib\n\tactive = true\n',
    '[http "https://x.example/"]\n\textraheader = A: b\n[credential]\n\tusername = a\n[gc]\n\tauto = 0\n',
    "[user]\n\temail = a@b\n\tsigningkey = x\n[gpg]\n\tformat = ssh\n[commit]\n\tgpgsign = true\n[pull]\n\trebase = true\n",
    '[lfs]\n\trepositoryformatversion = 0\n[lfs "https://x.example/info/lfs"]\n\taccess = basic\n\tlocksverify = true\n',
    '[gitflow "branch"]\n\tmaster = main\n[maintenance]\n\tstrategy = incremental\n[blame]\n\tignoreRevsFile = .revs\n',
    "[extensions]\n\tworktreeConfig = true\n[core]\n\tsparseCheckout = true\n\texcludesFile = .skip\n[diff]\n\ttool = x\n",
  ])
    expect(programs(config)).toBe(undefined);
});

test("what runs something, brings settings or moves the files is one, by what it counts for", () => {
  const config = `\uFEFF[filter "X.y"]Clean=a\r\n[FILTER.b] smudge = b # c
[diff "d"] textconv = t
[diff]\n\texternal = e\n[core] worktree = /etc\n[include]\n\tpath = ../x
[alias] st = !s
[core] [alias] ci = c\n[credential "https://x"]\n\thelper = h\n`;
  expect(programs(config)).toEqual({
    looking: ["filter.X.y.clean=a", "filter.b.smudge=b # c", "core.worktree=/etc", "include.path=../x"],
    drivers: ["diff.d.textconv=t", "diff.external=e"],
    others: ["alias.st=!s", "alias.ci=c", "credential.https://x.helper=h"],
  });
});

test("a name that has the look of a value hides nothing, and what git takes for a comment moves no files", () => {
  const config = `[filter "a=b"] clean = c
[filter "l\u2028i\rne"] smudge = s
[core] worktree = ../.. #/..
`;
  expect(programs(config)?.looking).toEqual([
    "filter.a=b.clean=c",
    "filter.l\u2028i\rne.smudge=s",
    "core.worktree=../.. #/..",
  ]);
});

test.each([
  ["lfs.extension.x.clean", "looking"],
  ["lfs.customtransfer.x.path", "looking"],
  ["hook.x.command", "looking"],
  ["gpg.program", "looking"],
  ["gpg.ssh.defaultkeycommand", "looking"],
  ["gc.recentobjectshook", "looking"],
  ["man.x.path", "looking"],
  ["pull.twohead", "looking"],
  ["branch.x.mergeoptions", "looking"],
  ["extensions.unheardof", "looking"],
  ["unheardof.x", "looking"],
  ["core.unheardof", "looking"],
  ["rebase.instructionformat", "others"],
  ["http.proxy", "others"],
  ["http.https://x.sslverify", "others"],
  ["svn.authorsprog", "others"],
  ["tar.x.command", "others"],
  ["sendemail.smtpserver", "others"],
  ["sendemail.x.tocmd", "others"],
  ["sendemail.headercmd", "others"],
  ["url.x.insteadof", "others"],
] as const)("%s counts, for it is not known to run nothing", (key, use) => {
  const [section = "", ...more] = key.split(".");
  const name = more.pop() ?? "";
  const header = more.length === 0 ? `[${section}]` : `[${section} "${more.join(".")}"]`;
  const nothing = { looking: [], drivers: [], others: [] };
  expect(programs(`${header}\n\t${name} = v\n`)).toEqual({ ...nothing, [use]: [`${key}=v`] });
});

test("an address that names a program to speak with it counts for whoever fetches", () => {
  for (const url of ["x::y", '"x:":y'])
    expect(programs(`[remote "o"]\n\turl = ${url}\n`)?.others).toEqual([`remote.o.url=${url}`]);
});

test("a format with a name counts unless it is known to print fields alone", () => {
  const formats = ["format:%h %C(yellow)%s%C(reset) %an", "%G?", "%(signature)", "oneline"];
  const counted = formats.flatMap((each) => programs(`[pretty]\n\tmine = ${each}\n`)?.looking ?? []);
  expect(counted).toEqual(["pretty.mine=%G?", "pretty.mine=%(signature)"]);
});

test("a setting that names a file counts unless that lies in the repository", () => {
  const files = ["../x", "/etc/passwd", "~/x", "%(prefix)/x", '"x"', "lost/../../x", "x", "lost", ""];
  const counted = files.flatMap(
    (file) => programs(`[mailmap]\n\tfile = ${file}\n`, { x: "" })?.looking ?? [],
  );
  expect(counted).toEqual(files.slice(0, 6).map((file) => `mailmap.file=${file}`));
});

test("more repositories than are looked at are not passed over", () => {
  const many = Object.fromEntries(
    Array.from({ length: 501 }, (_, at) => [`.git/modules/${at}/HEAD`, ""] as const),
  );
  const deep = { [`.git/modules/${"a/".repeat(12)}HEAD`]: "" };
  const told = "what cannot be read: more repositories than are looked at";
  expect([programs("", many)?.looking, programs("", deep)?.looking]).toEqual([[told], [told]]);
});

test.each([["gitdir: x\0y\n"], ["gitdir:x\n"], ["gitdir: nowhere\n"], ["\uFEFFgitdir: x\n"]])(
  "a pointer that is not plain counts: %j",
  (pointer) => {
    expect(gitPrograms(tempFolder({ ".git": pointer, "x/config": "" }))?.looking).toHaveLength(1);
  },
);

test("in a clone that fetches what is missing, programs for fetching count for whoever looks", () => {
  const fetching = '[remote "o"]\n\tuploadpack = evil\n[core]\n\tsshCommand = ssh2\n';
  const found = ["remote.o.uploadpack=evil", "core.sshcommand=ssh2"];
  expect(programs(fetching)).toEqual({ looking: [], drivers: [], others: found });
  for (const partial of [
    "[remote.o]\npromisor",
    "[extensions]\npartialClone = o",
    "[remote.o]\npartialclonefilter = blob:none",
  ])
    expect(programs(`${fetching}${partial}\n`)).toEqual({ looking: found, drivers: [], others: [] });
  expect(programs("[remote.o]\npromisor = true\n")).toBe(undefined);
});

test("settings of work trees and submodules count, and where their own files are is none", () => {
  const clean = '[filter "x"]\n\tclean = evil\n';
  const files = {
    "main/.git/config": "[core]\n\tbare = false\n",
    "main/.git/worktrees/w/commondir": "../..\n",
    "main/.git/worktrees/w/gitdir": "../../../../w/.git\n",
    "main/.git/worktrees/w/config.worktree": clean,
    "w/.git": "gitdir: ../main/.git/worktrees/w\n",
    "super/.git/config": "",
    "super/.git/modules/a/b/HEAD": "",
    "super/.git/modules/a/b/config": `[core]\n\tworktree = ../../../../lib\n${clean}`,
    "super/lib/.git": "gitdir: ../.git/modules/a/b\n",
  };
  const root = tempFolder(files);
  const found = { looking: ["filter.x.clean=evil"], drivers: [], others: [] };
  expect(["main", "w", "super", "super/lib"].map((name) => gitPrograms(join(root, name)))).toEqual([
    undefined,
    found,
    found,
    found,
  ]);
});

test.runIf(existsSync("/usr/bin/git"))("no setting that git reads in a file is overlooked", () => {
  const root = tempFolder();
  mkdirSync(join(root, "x"));
  const path = join(root, "config");
  const listed = (): readonly string[] => {
    try {
      const args = ["config", "-f", path, "--list", "-z", "--no-includes"];
      const run = { env: { HOME: root }, stdio: "pipe" } as const;
      return execFileSync("/usr/bin/git", args, run).toString().split("\0").slice(0, -1);
    } catch {
      // Git refuses the whole file.
      return [];
    }
  };
  const header = fc.constantFrom(
    "[a]",
    '[filter "x"]',
    '[filter "a=b\u2028"]',
    "[filter.X]",
    " [ a ]",
    '[a "b\\"c]"]',
    '[a  "]"]',
    "[a][b]",
    "[a",
    "a]",
    "[]",
    "[ä]",
    "[a b]",
    '[a "b',
  );
  const odd = fc.constantFrom(
    "\\",
    '"',
    "#",
    ";",
    "\t",
    "\r",
    "\f",
    "\v",
    "\u00a0",
    "[",
    "]",
    "=",
    "-",
    "1",
    "clean",
  );
  const key = fc.constantFrom("clean", "Smudge", "a-b", "x1");
  const value = fc.array(fc.oneof(odd, fc.constantFrom("v", " "))).map((parts) => parts.join(""));
  const pair = fc.tuple(key, fc.constantFrom("=", " = ", ""), value).map((parts) => parts.join(""));
  const line = fc.tuple(
    fc.constantFrom("", " ", "\t"),
    fc.oneof(
      header,
      pair,
      header.chain((h) => pair.map((p) => `${h}${p}`)),
      value,
    ),
  );
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => {
      const text = lines.map((parts) => parts.join("")).join("\n");
      writeFileSync(path, text);
      const own = settingsIn(path);
      const isAsked = own.some(({ key }) => key === "what cannot be read");
      const keys = new Set(own.map(({ key }) => key));
      const missed = listed()
        .map((each) => each.split("\n", 1)[0] ?? "")
        .filter((name) => name.includes(".") && !keys.has(name));
      expect([text, isAsked ? [] : missed]).toEqual([text, []]);
    }),
    { numRuns: 300 },
  );
});
