import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { coveredEnvironment } from "../../src/tools/shell/covered-environment.ts";
import { type Environment, unattendedEnvironment } from "../../src/tools/shell/shell.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

const PROGRAMS = ["/usr/bin/git", "/bin/bash"];

/** What git takes for a signature; a program that left its input unread would fail it. */
const SIGNS =
  'cat > /dev/null; echo "[GNUPG:] SIG_CREATED " >&2; printf "%s\\n" "-----BEGIN PGP SIGNATURE-----" "" x "-----END PGP SIGNATURE-----"';

/**
 * A repository whose user has programs of their own for differences, signatures and hooks; each leaves a mark
 * when it runs.
 */
class GitRoom {
  readonly folder: string;
  readonly repository: string;
  readonly #mark: string;
  readonly #plain: Record<string, string>;

  constructor() {
    const folder = mkdtempSync(join(tmpdir(), "nano-agent-git-"));
    this.folder = folder;
    this.repository = join(folder, "repository");
    this.#mark = join(folder, "ran");
    this.#plain = {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_PAGER: "cat",
    };
    mkdirSync(this.repository);
    this.#prepare((name) => this.#program(folder, name));
  }

  /** Whether a line runs any of the programs; covered is what rules alone allow. */
  ran(line: string, isCovered: boolean, own: Environment = {}): boolean {
    rmSync(this.#mark, { force: true });
    this.#run(line, isCovered ? unattendedEnvironment(coveredEnvironment(this.#plain, own)) : this.#plain);
    return existsSync(this.#mark);
  }

  #run(line: string, env: NodeJS.ProcessEnv = this.#plain): void {
    try {
      execFileSync("/bin/bash", ["-c", line], { cwd: this.repository, env, stdio: "ignore" });
    } catch {
      // That git refuses is one of the ways in which nothing runs.
    }
  }

  #program(folder: string, name: string): string {
    const path = join(folder, name);
    mkdirSync(join(path, ".."), { recursive: true });
    const does = name === "gpg" ? SIGNS : 'test ! -f "$1" || cat "$1"';
    writeFileSync(path, `#!/bin/sh\necho ${name} >> ${this.#mark}\n${does}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  #prepare(program: (name: string) => string): void {
    const write = (file: string, text: string): void => writeFileSync(join(this.repository, file), text);
    this.#run("git init -q; git config --global user.name a; git config --global user.email a@b");
    write(".gitattributes", "*.t diff=converted\n*.c diff=driven\n");
    for (const text of ["a\n", "b\n", "c\n"]) {
      for (const file of ["f.t", "g.c", "h"]) write(file, text);
      this.#run(text === "c\n" ? "git stash -q" : "git add .; git commit -qm x");
    }
    for (const file of ["f.t", "g.c", "h"]) write(file, "d\n");
    this.#run("git add h");
    this.#run(`git config --global diff.external ${program("external")}`);
    this.#run(`git config --global diff.converted.textconv ${program("converter")}`);
    this.#run(`git config diff.driven.command ${program("driver")}`);
    this.#run("git config --global log.showSignature true; git config --global commit.verbose true");
    this.#run(`git config --global gpg.program ${program("gpg")}`);
    this.#run("git commit -q -S --allow-empty -m signed");
    for (const hook of ["pre-commit", "commit-msg", "post-commit"]) program(`repository/.git/hooks/${hook}`);
  }
}

describe.skipIf(!PROGRAMS.every((path) => existsSync(path)))("git, allowed by rules alone", () => {
  let room: GitRoom;
  beforeAll(() => {
    room = new GitRoom();
  });
  afterAll(() => {
    rmSync(room.folder, { recursive: true });
  });

  const formOf = (command: string, rules = "git * ; timeout *"): string | undefined =>
    policyIn(room.repository, { rules: shellRules(rules) }).check({ tool: "bash", input: { command } }).runs;

  test.each([
    "git diff",
    "git diff HEAD~1",
    "git diff -G d",
    "git --no-pager diff --cached h; git diff f.t | cat",
    "git log -p",
    "git log -S b",
    "git show",
    "git blame f.t",
    "git annotate f.t",
    "git whatchanged -p",
    "git log --oneline -3",
    "git log -1 --stat",
    "git stash list -p",
    "git reflog -p",
    "timeout 5 git diff",
    'g"i"t show',
    "git commit -a",
  ])("%s runs no program of the user's configuration for changes or signatures", (line) => {
    const form = formOf(line) ?? "";
    expect({ covered: room.ran(form, true), asWritten: room.ran(line, false) }).toEqual({
      covered: false,
      asWritten: true,
    });
  });

  test.each([
    "git status",
    "git reflog",
    "git stash list",
    "git stash show -p",
    "git rev-parse --verify HEAD",
    "git diff --stat",
  ])("%s runs none either", (line) => {
    expect([typeof formOf(line), room.ran(formOf(line) ?? "", true)]).toEqual(["string", false]);
  });

  test.each([
    "git diff --ext-diff",
    "git log -p --textconv",
    "git grep --textconv d",
    "git status -vv",
    "git commit --dry-run -av",
    "git range-diff HEAD~1..HEAD HEAD~1..HEAD",
    "git log --show-signature",
    "git log --format=%G?",
    "git show --pretty='%h %GK'",
    "git for-each-ref --format '%(signature)'",
    "git verify-commit HEAD",
    "git tag -v v1",
    "git merge --verify-signatures x",
  ])("%s asks: no option leaves the program out", (line) => {
    expect(formOf(line)).toBeUndefined();
  });

  test("a form with the options is not given them twice, and words that only name git are left alone", () => {
    const lines = ["git diff --no-ext-diff --no-textconv h", "git add diff", "git commit -m 'git diff'"];
    expect(lines.map((line) => formOf(line))).toEqual(lines);
  });

  test("where all of bash is allowed, a line runs as it is written, beside deny rules too", () => {
    const rules = [{ tool: "bash", action: "allow" } as const, ...shellRules("!rm *")];
    const { runs } = policyIn(room.repository, { rules }).check({
      tool: "bash",
      input: { command: "git  diff" },
    });
    expect(runs).toBe("git diff");
  });

  test.each([
    ["under a rule for it runs no hook", "git commit --allow-empty -m x", {}, false],
    [
      "under a rule that spells where hooks are runs them",
      "git -c core.hooksPath=.git/hooks commit --allow-empty -m x",
      {},
      true,
    ],
    [
      "where the user's configuration says where hooks are runs them",
      "git commit --allow-empty -m x",
      { GIT_CONFIG_PARAMETERS: "'core.hooksPath'='.git/hooks'" },
      true,
    ],
  ])("a commit %s", (_, line, own, hooks) => {
    const rules = "git commit * ; git -c core.hooksPath=.git/hooks commit *";
    const ran = [room.ran(formOf(line, rules) ?? "", true, own), room.ran(line, false)];
    expect(ran).toEqual([hooks, true]);
  });
});
