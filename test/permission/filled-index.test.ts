import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Attack, BELOW, decisionOn, FILTER, Room } from "./repository-room.ts";

/** A repository, in a folder that is not where the index names one. */
const MOVED = `git checkout -qf; cp -r . ../sub; mkdir b; cp -r ../sub b; git add b; git commit -qm s; mv b a; echo 1 > a/x; git add a/x; ${FILTER} a/sub/.git/config; echo c > a/sub/f.t`;

/** A work tree with settings of its own, in a folder that is not where the index names one, nor known. */
const WORK_TREE = `git checkout -qf; git config core.repositoryformatversion 1; git config extensions.worktreeConfig true; git worktree add -q sub; git add -f sub; git commit -qm s; ${FILTER} .git/worktrees/sub/config.worktree; echo c > sub/f.t`;

const ATTACKS: readonly Attack[] = [
  ...["-m x sub", "-m x -- sub", "--dry-run sub", "--pathspec-from-file=../sub -m x"].map((args) => ({
    what: `what only the last commit names, entered by git commit ${args}`,
    prepare: `${BELOW}; git checkout -qf b; git rm -q --cached sub; echo sub > ../sub`,
    line: `git commit ${args}`,
    rule: "git *",
  })),
  {
    what: "what a trap brings into the index as often as it runs",
    prepare: BELOW,
    line: "trap 'git add -A' EXIT DEBUG; echo 1; echo 2",
    rule: "git * ; trap *",
  },
  {
    what: "a repository that is moved to where the index names one",
    prepare: MOVED,
    line: "git mv a b; git status",
    rule: "git *",
  },
  {
    what: "a work tree with settings of its own, which is moved to where the index names one",
    prepare: `${WORK_TREE}; git worktree move sub evil`,
    line: "git worktree move evil sub; git status",
    rule: "git *",
  },
  {
    what: "a work tree with settings of its own, which is made known as one",
    prepare: `${WORK_TREE}; rm sub/.git`,
    line: "git worktree repair; git status",
    rule: "git *",
  },
];

describe.skipIf(!["/usr/bin/git", "/bin/bash"].every((path) => existsSync(path)))(
  "a repository that a line brings into the index",
  () => {
    test.each(ATTACKS)("is asked about: $what", (attack) => {
      const room = new Room(attack.prepare);
      const decided = decisionOn(room, attack);
      expect([decided, room.ran(attack.line ?? "git status", "r")]).toEqual(["ask", true]);
    });

    test.each([
      "git cherry-pick -e b",
      "git cherry-pick b main",
      "git reset -q b && git status",
      "git add sub; git diff",
      "git add -A && git commit -m 1 && git commit -m 2",
      "git restore --source=b --staged . && git add -u",
      "git apply --cached ../p && git diff",
      "for i in 1 2; do git add -A; done",
      "find . -name sub -prune -exec git add {} \\; ; git diff --stat",
      "git add -A; find f.t -exec git status \\;",
      "printf '%s\\n' sub . | xargs -n1 git add",
      "timeout 9 git add -A && bash -c 'git status'",
      "git add -A; git add -A",
      "printf %s $(git add -A) $(git add -A)",
      "bash -c 'git add -A'; bash -c 'git add -A'",
      "bash -c 'fo''r i in 1 2; do git add -A; done'",
    ])("asks where what only a commit or another command names is entered: %s", (line) => {
      const prepare = `${BELOW}; git bisect reset -q; git config --global core.editor true; git diff main b > ../p`;
      const decided = ["", "; git config -f sub/.git/config --unset filter.x.clean"].map((harmless) => {
        const room = new Room(prepare + harmless);
        return [decisionOn(room, { what: "", prepare, line, rule: "*" }), room.ran(line, "r")];
      });
      expect(decided).toEqual([
        ["ask", true],
        ["allow", false],
      ]);
    });
  },
);
