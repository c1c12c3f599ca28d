import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseRules } from "../../src/permission/parse-rule.ts";
import type { PolicyOptions } from "../../src/permission/policy.ts";
import { tempFolder } from "../temp-folder.ts";
import { ALLOWED, markingStubs, NOBODY } from "./marking-stubs.ts";
import { shellLines } from "./printable-lines.ts";
import { policyIn, shellRules } from "./shell-rules.ts";
import { tokenLines } from "./token-lines.ts";

/** Shells that are not Bash, with what they are started with. */
const OTHER_SHELLS = [
  ["/bin/dash"],
  ["/usr/bin/dash"],
  ["/bin/busybox", "sh"],
  ["/usr/bin/busybox", "sh"],
].filter(([path]) => existsSync(path ?? ""));
const TRIALS = Number(process.env["NANO_AGENT_TRIALS"] ?? 60);
function isAllowed(command: string, folder: string, options: Partial<PolicyOptions>): boolean {
  return policyIn(folder, options).check({ tool: "bash", input: { command } }).decision === "allow";
}

test("where another shell than Bash reads the lines, what Bash alone reads asks", () => {
  const folder = tempFolder();
  const bashAlone = [
    "((make)); ls",
    "[[ a > pwned ]] && ls",
    "ls; [[ a == b ]]",
    "echo x &> /dev/null",
    "ls |& cat",
    "cat <<< x",
    "cat <(ls)",
    "cat <<E\nx\nE",
  ];
  const everywhere = [
    "ls | cat",
    "echo x > /dev/null 2>&1",
    'for f in a b; do cat "$f"; done',
    "echo a b # all",
    "if test -f a; then cat a; fi",
  ];
  const allowed = (lines: readonly string[], isPosixShell: boolean): readonly string[] =>
    lines.filter((line) => isAllowed(line, folder, { isPosixShell }));
  expect([allowed(bashAlone, false), allowed(bashAlone, true)]).toEqual([bashAlone, []]);
  expect([allowed(everywhere, false), allowed(everywhere, true)]).toEqual([everywhere, everywhere]);
});

test.skipIf(OTHER_SHELLS.length === 0)(
  "another shell runs nothing of a generated line but what rules allow (needs dash or busybox)",
  () => {
    const { work, bin } = markingStubs();
    const policy = policyIn(work, { rules: shellRules(ALLOWED), defaults: false, isPosixShell: true });
    fc.assert(
      fc.property(
        fc.oneof(tokenLines, shellLines),
        fc.constantFrom(...OTHER_SHELLS),
        (command, [shell, ...args]) => {
          const { decision, runs } = policy.check({ tool: "bash", input: { command } });
          fc.pre(decision === "allow" && runs !== undefined);
          spawnSync(shell ?? "", [...args, "-c", runs ?? ""], {
            cwd: work,
            env: { PATH: bin },
            stdio: "ignore",
            ...NOBODY,
          });
          expect(readdirSync(work)).toEqual([]);
        },
      ),
      { numRuns: TRIALS, maxSkipsPerRun: 1000 },
    );
  },
);

test("a built-in rule covers no program that lies in the workspace", () => {
  const root = tempFolder({
    "work/node_modules/.bin/cat": "",
    "work/bin/ls": "",
    "sys/cat": "",
    "sys/ls": "",
  });
  const work = join(root, "work");
  const covers = (searchPath: string | undefined, cwd = work): string =>
    ["cat a", "ls", "cd . && cat a", "find . -exec cat {} +", "echo x | xargs ls", "echo x", "grep x a"]
      .filter((line) => isAllowed(line, work, { cwd, ...(searchPath === undefined ? {} : { searchPath }) }))
      .join(", ");
  const all = "cat a, ls, cd . && cat a, find . -exec cat {} +, echo x | xargs ls, echo x, grep x a";
  mkdirSync(join(work, "src"));
  expect({
    none: covers(undefined),
    system: covers(`${root}/sys`),
    behind: covers(`${root}/sys:${work}/bin:${work}/node_modules/.bin`),
    packages: covers(`${work}/node_modules/.bin:${root}/sys`),
    around: covers(`${work}/node_modules/.bin:${root}/sys`, join(work, "src")),
    relative: covers(`bin:${root}/sys`),
    here: covers(`:${root}/sys`, join(work, "bin")),
  }).toEqual({
    none: all,
    system: all,
    behind: all,
    packages: "ls, echo x | xargs ls, echo x, grep x a",
    around: "ls, echo x | xargs ls, echo x, grep x a",
    relative: "cat a, cd . && cat a, find . -exec cat {} +, echo x, grep x a",
    here: "cat a, cd . && cat a, find . -exec cat {} +, echo x, grep x a",
  });
});

test("a built-in rule covers no program that starts one of the workspace by its name", () => {
  const started = { egrep: "grep", "tar tzf a": "gzip", "npm --version": "node", "git status": "ssh" };
  const covered = Object.entries(started).flatMap(([line, name]) => {
    const work = tempFolder({ [`bin/${name}`]: "" });
    const command = line === "egrep" ? "egrep x a" : line;
    return [`${work}/bin:/usr/bin`, "/usr/bin"].map((searchPath) => isAllowed(command, work, { searchPath }));
  });
  expect(covered).toEqual([false, true, false, true, false, true, false, true]);
});

test("git is covered by a built-in rule only where the filters of the user's own settings lie elsewhere", () => {
  const covered = (settings: string, name = ".gitconfig"): readonly boolean[] => {
    const home = tempFolder({
      ".gitconfig": '[include]\n\tpath = more\n[includeIf "gitdir:~/x/"]\n\tpath = "~/others"',
      [name]: settings,
    });
    const work = tempFolder({ "bin/cleaner": "" });
    return [`${work}/bin:/usr/bin`, "/usr/bin"].map((searchPath) =>
      isAllowed("git status", work, { home, searchPath }),
    );
  };
  const own = '[filter "x"]\n\tclean = ';
  expect({
    program: covered(`${own}cleaner %f`),
    other: covered(`${own}mender %f`),
    script: covered(`${own}"sh -c 'cat | cleaner'"`),
    lines: covered(`${own}cat |\\\n  cleaner`),
    elsewhere: covered(`${own}cleaner`, ".config/git/config"),
    included: covered(`${own}cleaner`, "more"),
    sometimes: covered(`${own}cleaner`, "others"),
    alias: covered("[alias]\n\tx = !cleaner"),
  }).toEqual({
    program: [false, true],
    other: [true, true],
    script: [false, true],
    lines: [false, true],
    elsewhere: [false, true],
    included: [false, true],
    sometimes: [false, true],
    alias: [true, true],
  });
});

test("a rule covers no glob where it finds a file that is called like an option", () => {
  const rules = shellRules("tar * ; rm * ; npm *");
  const decided = (names: readonly string[]): readonly string[] => {
    const folder = tempFolder(Object.fromEntries(names.map((name) => [name, ""])));
    return ["tar cf x *", "rm -- *", "rm ./*", "rm a*", 'for f in *; do rm "$f"; done', "cat *"].filter(
      (line) => isAllowed(line, folder, { rules }),
    );
  };
  expect([decided(["a"]), decided(["a", "--checkpoint-action=exec=evil"])]).toEqual([
    ["tar cf x *", "rm -- *", "rm ./*", "rm a*", 'for f in *; do rm "$f"; done', "cat *"],
    ["rm -- *", "rm ./*", "rm a*", "cat *"],
  ]);
});

test("whatever the folders are called, the decisions are the same", () => {
  const names = [
    "-x",
    "a*b",
    "a\nb",
    "[x]",
    "{a,b}",
    "~",
    "~root",
    "a b",
    "'q'",
    "$(touch p)",
    "..x",
    "#a",
    "a:b",
    "a\\b",
    "*",
    "?",
  ];
  const rules = parseRules({ deny: ["read(./secret/**)"], allow: ["edit(src/**)"] });
  const decided = (name: string): readonly string[] => {
    const work = join(tempFolder(), name);
    mkdirSync(join(work, "src"), { recursive: true });
    const quoted = `'${work.replaceAll("'", "'\\''")}/secret/k'`;
    const commands = [
      "cat note",
      "cat ../other",
      "cat secret/x",
      `cat ${quoted}`,
      "cd src && cat ../note",
      "cd src && cat ../../x",
    ];
    const calls = [
      ...commands.map((command) => ({ tool: "bash", input: { command } })),
      ...["note", "../x", "secret/k", join(work, "secret/k")].map((path) => ({
        tool: "read",
        input: { path },
      })),
      ...["src/a", "note"].map((path) => ({ tool: "edit", input: { path } })),
    ];
    return ["/home/someone", work].flatMap((home) =>
      calls.map((call) => policyIn(work, { rules, home }).check(call).decision),
    );
  };
  const plain = [
    "allow",
    "ask",
    "deny",
    "deny",
    "allow",
    "ask",
    "allow",
    "ask",
    "deny",
    "deny",
    "allow",
    "ask",
  ];
  expect(names.map((name) => [name, decided(name)])).toEqual(
    names.map((name) => [name, [...plain, ...plain]]),
  );
});
