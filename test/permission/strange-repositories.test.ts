import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { coveredEnvironment } from "../../src/tools/shell/covered-environment.ts";
import { unattendedEnvironment } from "../../src/tools/shell/shell.ts";
import { tempFolder } from "../temp-folder.ts";
import { policyIn, shellRules } from "./shell-rules.ts";

/** A way to have git run a program: what the files of a repository say, and the line that is enough. */
interface Attack {
  readonly what: string;
  /** Prepares the repository `r`, with `$EVIL` as the program. A filter `x` is set on `f.t`, which has changed. */
  readonly prepare: string;
  readonly line?: string;
  /** The rule of the user that covers the line; none where built-in rules do. */
  readonly rule?: string;
  /** Where the line runs. Default `r`. */
  readonly cwd?: string;
}

const FILTER = `printf '[filter "x"]\\n\\tclean = %s\\n' "$EVIL" >>`;
const COMMITS = `git checkout -qf -b b; echo 1 > g; git add g; git commit -qm g; git checkout -q main; echo 2 > h; git add h; git commit -qm h`;

const ATTACKS: readonly Attack[] = [
  { what: "a filter", prepare: `${FILTER} .git/config` },
  {
    what: "a pointer to a folder whose name ends with a blank",
    prepare: `cp -r .git meta; mv .git 'meta '; ${FILTER} 'meta /config'; printf 'gitdir: meta \\n' > .git`,
  },
  {
    what: "a pointer through a link and back",
    prepare: `mkdir -p a/b; cp -r .git meta; mv .git a/meta; ln -s a/b l; ${FILTER} a/meta/config; echo 'gitdir: l/../meta' > .git`,
  },
  {
    what: "a pointer with more line ends than we read",
    prepare: `mv .git meta; ${FILTER} meta/config; (printf 'gitdir: meta'; head -c 1010000 /dev/zero | tr '\\0' '\\n') > .git`,
  },
  {
    what: "settings in another folder, behind a long pointer",
    prepare: `mkdir .git/c; cp -r .git/objects .git/refs .git/config .git/c; ${FILTER} .git/c/config; (echo c; head -c 1010000 /dev/zero | tr '\\0' '\\n') > .git/commondir`,
  },
  {
    what: "settings in another folder, whose name begins with a blank",
    prepare: `mkdir .git/c; cp -r .git/objects .git/refs .git/config .git/c; cp -r .git/c '.git/ c'; ${FILTER} '.git/ c/config'; echo ' c' > .git/commondir`,
  },
  {
    what: "a repository above an empty .git",
    prepare: `mkdir -p sub/.git; ${FILTER} .git/config`,
    cwd: "r/sub",
  },
  {
    what: "a repository above one whose HEAD is a link",
    prepare: `mkdir sub; cp -r .git sub; mv sub/.git/HEAD sub/.git/head; ln -s head sub/.git/HEAD; ${FILTER} .git/config`,
    cwd: "r/sub",
  },
  {
    what: "a repository in the index",
    prepare: `cp -r . ../sub; mv ../sub .; git add sub; ${FILTER} sub/.git/config`,
  },
  {
    what: "a repository in a repository in the index",
    prepare: `cp -r . ../in; cp -r . ../sub; mv ../in ../sub; git -C ../sub add in; mv ../sub .; git add sub; ${FILTER} sub/in/.git/config`,
  },
  {
    what: "a repository in an index of the short form",
    prepare: `cp -r . ../sub; mv ../sub .; git add sub; git update-index --index-version 4; ${FILTER} sub/.git/config`,
  },
  {
    what: "a repository in an index that other files share",
    prepare: `cp -r . ../sub; mv ../sub .; git add sub; git update-index --split-index; ${FILTER} sub/.git/config`,
  },
  {
    what: "what shows differences in a repository in the index",
    prepare: `cp -r . ../sub; mv ../sub .; git add sub; git -C sub commit -qam y; git -C sub config diff.external "$EVIL"; git config diff.submodule diff`,
    line: "git diff --no-ext-diff --no-textconv",
  },
  {
    what: "a submodule of a work tree",
    prepare: `cp -r . ../s; git -c protocol.file.allow=always submodule --quiet add ../s sub; git commit -qm s; git worktree add -q ../w; cd ../w; git -c protocol.file.allow=always submodule --quiet update --init; cp ../r/f.t sub; ${FILTER} ../r/.git/worktrees/w/modules/sub/config`,
    cwd: "w",
  },
  {
    what: "a format with a name, and a program for signatures",
    prepare: `git config gpg.program "$EVIL"; git config pretty.mine %G?; printf 'tree %s\\nauthor a <a@b> 0 +0000\\ncommitter a <a@b> 0 +0000\\ngpgsig -----BEGIN PGP SIGNATURE-----\\n \\n x\\n -----END PGP SIGNATURE-----\\n\\nm\\n' $(git write-tree) | git hash-object -t commit -w --stdin > id; git update-ref HEAD $(cat id)`,
    line: "git log --format=mine",
  },
  {
    what: "a step of a rebase in its format",
    prepare: `${COMMITS}; git config rebase.instructionFormat "%s%nexec $EVIL"`,
    line: "git rebase b",
    rule: "git rebase *",
  },
  {
    what: "a step of a rebase that was begun",
    prepare: `git checkout -qf; git commit -qm g --allow-empty; GIT_SEQUENCE_EDITOR=true git rebase -q -x false HEAD~1 2> /dev/null; echo "exec $EVIL" > .git/rebase-merge/git-rebase-todo`,
    line: "git rebase --continue",
    rule: "git rebase *",
  },
  {
    what: "a way of merging for commits that wait",
    prepare: `mkdir git-merge-x; cp "$EVIL" git-merge-x/evil; git checkout -qf -b b; for i in 1 2 3; do echo $i > g; git add g; git commit -qm $i; done; git checkout -q main; echo z > g; git add g; git commit -qm z; git cherry-pick main..b 2> /dev/null; git checkout -q --theirs g; git add g; git commit -qm r; printf '[options]\\n\\tstrategy = x/evil\\n' > .git/sequencer/opts`,
    line: "git cherry-pick --continue",
    rule: "git cherry-pick *",
  },
  {
    what: "a repository that find goes into",
    prepare: `mkdir sub; cp -r .git .gitattributes f.t sub; ${FILTER} sub/.git/config`,
    line: "find sub -name f.t -execdir git status \\;",
    rule: "git *",
  },
  {
    what: "a form of archives",
    prepare: 'git config tar.foo.command "$EVIL"',
    line: "git archive --format=foo HEAD",
    rule: "git archive *",
  },
  {
    what: "a key to sign with",
    prepare:
      'git config gpg.format ssh; git config commit.gpgsign true; git config gpg.ssh.defaultKeyCommand "$EVIL"',
    line: "git commit -m x --allow-empty",
    rule: "git commit *",
  },
];

test("git asks where it would find its large files' program in the workspace", () => {
  const folder = tempFolder({ "node_modules/.bin/git-lfs": "" });
  const searchPath = `${folder}/node_modules/.bin:/usr/bin`;
  const decided = ["git status", "ls"].map(
    (command) => policyIn(folder, { searchPath }).check({ tool: "bash", input: { command } }).decision,
  );
  expect(decided).toEqual(["ask", "allow"]);
});

class Room {
  readonly folder: string = tempFolder();
  readonly #mark = join(this.folder, "ran");
  readonly #env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: this.folder,
    GIT_CONFIG_NOSYSTEM: "1",
    EVIL: join(this.folder, "evil"),
  };

  constructor(prepare: string) {
    writeFileSync(this.#env.EVIL, `#!/bin/sh\necho >> ${this.#mark}\nexit 1\n`);
    chmodSync(this.#env.EVIL, 0o755);
    mkdirSync(join(this.folder, "r"));
    this.#run(
      "git config --global user.name a; git config --global user.email a@b; git init -qb main; echo '*.t filter=x' > .gitattributes; echo a > f.t; git add .; git commit -qm x; touch -d 2020-01-01 f.t; echo b > f.t",
    );
    this.#run(prepare);
  }

  /** Whether the program runs in what rules alone would allow. */
  ran(line: string, cwd: string): boolean {
    rmSync(this.#mark, { force: true });
    this.#run(line, cwd, unattendedEnvironment(coveredEnvironment(this.#env)));
    return existsSync(this.#mark);
  }

  #run(line: string, cwd = "r", env: NodeJS.ProcessEnv = this.#env): void {
    try {
      execFileSync("/bin/bash", ["-c", line], { cwd: join(this.folder, cwd), env, stdio: "ignore" });
    } catch {
      // That git fails is one of the ways in which the program fails.
    }
  }
}

const decisionOn = (room: Room, { line = "git status", rule, cwd = "r" }: Attack): string =>
  policyIn(join(room.folder, cwd), { rules: rule === undefined ? [] : shellRules(rule) }).check({
    tool: "bash",
    input: { command: line },
  }).decision;

describe.skipIf(!["/usr/bin/git", "/bin/bash"].every((path) => existsSync(path)))(
  "a repository that came as a folder",
  () => {
    test.each(ATTACKS)("asks before it has git run a program by $what", (attack) => {
      const room = new Room(attack.prepare);
      const decided = decisionOn(room, attack);
      expect([decided, room.ran(attack.line ?? "git status", attack.cwd ?? "r")]).toEqual(["ask", true]);
    });

    test.each([
      ["a repository in the index", "cp -r . ../sub; mv ../sub .; git add sub"],
      ["a work tree", "cp -r . ../w; git worktree add -q w; cd w"],
      [
        "a submodule",
        "cp -r . ../s; git -c protocol.file.allow=always submodule --quiet add ../s sub; git commit -qm s",
      ],
      ["a rebase that waits", "git checkout -qf; git rebase -q -x false HEAD~0"],
      ["an index of the short form", "git update-index --index-version 4"],
      [
        "a clone with all that its tools write",
        "git config remote.o.url https://x/y; git lfs install --local",
      ],
    ])("does not ask for %s as such", (_, prepare) => {
      expect(decisionOn(new Room(prepare), { what: "", prepare })).toBe("allow");
    });
  },
);
