import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../temp-folder.ts";
import { type Attack, BELOW, decisionOn, FILTER, Room } from "./repository-room.ts";
import { policyIn } from "./shell-rules.ts";

/** A driver for differences, which `f.t` has. */
const DRIVER = `echo '*.t diff=d' > .gitattributes; git config diff.d.textconv "$EVIL"; git add .; git commit -qm d; echo c > f.t`;
const COMMITS = `git checkout -qf -b b; echo 1 > g; git add g; git commit -qm g; git checkout -q main; echo 2 > h; git add h; git commit -qm h`;

/**
 * An index that has no repository in it for whoever takes its hashes for longer ones, because of a long name
 * in front.
 */
const HIDING = `cp -r . ../sub; mv ../sub .; git add sub; x=$(printf 'a%.0s' $(seq 200)); git update-index --add --cacheinfo 100644,$(git hash-object -w f.t),$x/$x/$x/$x/$x; git rm -q --cached f.t .gitattributes; ${FILTER} sub/.git/config;`;
/**
 * A repository that only commits name, whose settings have a program show differences; \`git diff\` is to
 * show what is in it.
 */
const IN_COMMITS = `cp -r . ../sub; git checkout -qf; mv ../sub .; git add sub; git commit -qm 1; git -C sub commit -qam y; git add sub; git commit -qm 2; git rm -q --cached sub; git commit -qm 3; git -C sub config diff.external "$EVIL"`;

/** A repository that only commits name, and that misses something: git fetches that by the settings there. */
const MISSING = `git checkout -qf; git init -q sub; cd sub; echo 1 > z; git add z; git commit -qm 1; cd ..; git config -f .gitmodules submodule.sub.path sub; git config -f .gitmodules submodule.sub.url x; git config submodule.sub.active true; git add sub .gitmodules; git commit -qm s; git rm -q --cached sub; git commit -qm g; cd sub; rm -r .git/objects/??; git config extensions.partialclone o; git config core.repositoryformatversion 1; git config remote.o.url ssh://x/y; git config remote.o.promisor true; git config core.sshCommand "$EVIL"`;
/** A repository that only the branch `b` names, whose settings have a program clean what is checked out. */
const IN_BRANCH = `git checkout -qf; git init -qb main sub; cd sub; echo 1 > z; git add z; git commit -qm 1; cd ..; git config -f .gitmodules submodule.sub.path sub; git config -f .gitmodules submodule.sub.url x; git config submodule.sub.active true; git add sub .gitmodules; git commit -qm s; git branch b; git rm -q --cached sub; git commit -qm g; echo 'z filter=x' > sub/.git/info/attributes; printf '[filter "x"]\\n\\tsmudge = %s\\n' "$EVIL" >> sub/.git/config; rm sub/z`;

/** A submodule, the next commit of which names a repository in it, whose settings clean what changed. */
const IN_SUBMODULE = `register() { git config -f .gitmodules submodule.$1.path $1; git config -f .gitmodules submodule.$1.url x; git config submodule.$1.url x; git config submodule.$1.active true; git add .gitmodules $1; git commit -qm $1; }; git checkout -qf; cp -r . ../sub; cp -r . ../in; mv ../sub .; mv ../in sub; cd sub; register in; cd ..; register sub; mv sub/in ..; git -C sub checkout -qf HEAD~1; rm -rf sub/in; mv ../in sub; git -C sub/in commit -q --allow-empty -m e; ${FILTER} sub/in/.git/config; echo c > sub/in/f.t`;

/** A sparse index without the folder `b`, and in that a repository whose settings clean what changed. */
const SPARSE = `git checkout -qf; mkdir a b; echo 1 > a/x; git init -qb main b/sub; cd b/sub; echo 'z filter=x' > .gitattributes; echo 1 > z; git add .; git commit -qm s; cd ../..; git add .; git commit -qm s; mv b/sub ..; git sparse-checkout set --cone --sparse-index a; ${FILTER} ../sub/.git/config; echo 2 > ../sub/z; mkdir b; mv ../sub b`;

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
    what: "a repository in an index that an extension calls longer hashes",
    prepare: `${HIDING} git config core.repositoryformatversion 0; git config extensions.worktreeConfig true; printf '[extensions]\\n\\tobjectformat = sha256\\n' > .git/config.worktree`,
  },
  {
    what: "a repository in an index whose format has no version",
    prepare: `${HIDING} printf '[extensions]\\n\\tobjectformat = sha256\\n' > .git/config`,
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
    what: "differences in a repository that only commits name",
    prepare: IN_COMMITS,
    line: "git log -p --no-ext-diff --no-textconv --submodule=diff",
    rule: "git log *",
  },
  {
    what: "a setting on the command line, behind a digit",
    prepare: "true",
    line: "git clone -4c core.sshCommand=../evil ssh://x/y z",
    rule: "git clone *",
  },
  {
    what: "a pager for what is found, behind a digit",
    prepare: "true",
    line: "git grep -n3O../evil b",
    rule: "git grep *",
  },
  {
    what: "a repository in a folder that a sparse index leaves out",
    prepare: SPARSE,
  },
  {
    what: "a work tree below, where the index finds another repository",
    prepare: `mkdir sub; cp -r . ../in; mv ../in sub; git config core.worktree ../sub; cd sub; git add in; ${FILTER} in/.git/config`,
  },
  {
    what: "a repository of a submodule without a commit",
    prepare: `git checkout -qf; cp -r . ../s; git -c protocol.file.allow=always submodule --quiet add ../s sub; git commit -qm s; rm -r sub; cd .git/modules/sub; ln -sf refs/heads/none HEAD; printf '[filter "x"]\\n\\tsmudge = %s\\n' "$EVIL" >> config`,
    line: "git submodule update",
    rule: "git submodule update",
  },
  ...["git d", "for s in diff; do git $s; done", "git cat-file --text HEAD:f.t"].map((line) => ({
    what: `differences, shown by ${line}`,
    prepare: `git config --global alias.d diff; ${DRIVER}`,
    line,
    rule: "git *",
  })),
  {
    what: "differences of a branch that has the name of a newer sub-command",
    prepare: `git commit -qm e --allow-empty; git branch write HEAD; ${DRIVER}; git commit -qam f; git branch -qf write`,
    line: "git reflog write -p",
    rule: "git *",
  },
  ...["git {diff,HEAD}", "nice {git,diff}", "git -C {.,diff}", "git dif{f..f}"].map((line) => ({
    what: `differences, shown by ${line}`,
    prepare: DRIVER,
    line,
  })),
  {
    what: "differences of a commit that a rebase stopped at",
    prepare: `${COMMITS}; ${DRIVER}; git commit -qam d; git checkout -q b; git rebase main -x false 2> /dev/null; git update-ref REBASE_HEAD main`,
    line: "git rebase --show-current-patch",
    rule: "git rebase *",
  },
  {
    what: "a beginning of the option that writes an index",
    prepare: "true",
    line: "git read-tree --index=../ran HEAD",
    rule: "git *",
  },
  {
    what: "a checkout that goes into what only a commit names",
    prepare: IN_BRANCH,
    line: "git checkout -f --recurse-submodules b",
    rule: "git checkout *",
  },
  ...["checkout b", "switch b", "checkout -b n b", "co b", "rebase b", "merge b", "bisect reset"].map(
    (args) => ({
      what: `what only a commit names, entered by git ${args}`,
      prepare: BELOW,
      line: `git ${args}`,
      rule: "git *",
    }),
  ),
  {
    what: "what only a commit of a submodule names",
    prepare: IN_SUBMODULE,
    line: "git submodule update --recursive",
    rule: "git submodule *",
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

/**
 * Ways to have git show what lies outside: a file `$HOME/out`, or a repository `$HOME/other`, with `outside`
 * in it.
 */
const LEAKS: readonly Attack[] = [
  ...["packed-refs", "shallow", "info/grafts", "objects/info/alternates"].map((name) => ({
    what: `${name} as a link`,
    prepare: `ln -s "$HOME/out" .git/${name}`,
    line: "git log",
  })),
  { what: "attributes as a link", prepare: 'ln -s "$HOME/out" .git/info/attributes' },
  {
    what: "a remote as a link",
    prepare: 'mkdir -p .git/branches; ln -s "$HOME/out" .git/branches/q',
    line: "git remote get-url q",
  },
  {
    what: "the place of a work tree as a link",
    prepare: 'git worktree add -q ../w; ln -sf "$HOME/out" .git/worktrees/w/locked',
    line: "git worktree list -v",
  },
  {
    what: "a file of commits to pass over",
    prepare: 'git config blame.ignoreRevsFile "$HOME/out"',
    line: "git blame f.t",
  },
  {
    what: "a file of commits to pass over, behind a link",
    prepare: 'ln -s "$HOME/out" revs; git config blame.ignoreRevsFile revs',
    line: "git blame f.t",
  },
  {
    what: "a file of commits to pass over, behind a link whose name is no text",
    prepare: `ln -s "$HOME/out" "$(printf '\\377')"; printf '[blame]\\n\\tignoreRevsFile = \\377\\n' >> .git/config`,
    line: "git blame f.t",
  },
  {
    what: "a file of commits to pass over, whose name git reads to its end",
    prepare: `ln -s "$HOME/out" revs; printf '[blame]\\n\\tignoreRevsFile = revs\\0x\\n' >> .git/config`,
    line: "git blame f.t",
  },
  {
    what: "a file of names",
    prepare: 'echo "outside <q@q> <a@b>" > "$HOME/out"; git config mailmap.file ../out',
    line: "git log --format=%aN",
  },
  {
    what: "a file of attributes",
    prepare: 'git config core.attributesFile "$HOME/out"',
  },
  { what: "a pointer", prepare: "rm -r .git; echo 'gitdir: ../other/.git' > .git", line: "git show" },
  { what: "a link", prepare: "rm -r .git; ln -s ../other/.git .git", line: "git show" },
  {
    what: "the settings of another repository",
    prepare: "rm -r .git; mkdir .git; cp ../other/.git/HEAD .git; echo ../../other/.git > .git/commondir",
    line: "git show",
  },
  {
    what: "the objects of another repository",
    prepare:
      'ln -sf "$HOME/other/.git/refs/heads/main" .git/refs/heads/main; echo "$HOME/other/.git/objects" > .git/objects/info/alternates',
    line: "git show",
  },
];

const OTHER = `printf '= outside/login password\\n' > "$HOME/out"; git init -qb main ../other; cd ../other; echo outside > s; git add s; git commit -qm s; cd ../r;`;

describe.skipIf(!["/usr/bin/git", "/bin/bash"].every((path) => existsSync(path)))(
  "a repository that came as a folder",
  () => {
    test.each(ATTACKS)("asks before it has git run a program by $what", (attack) => {
      const room = new Room(attack.prepare);
      const decided = decisionOn(room, attack);
      expect([decided, room.ran(attack.line ?? "git status", attack.cwd ?? "r")]).toEqual(["ask", true]);
    });

    test.each(LEAKS)("asks before it shows what lies outside by $what", (attack) => {
      const room = new Room(`${OTHER} ${attack.prepare}`);
      const decided = decisionOn(room, attack);
      expect([decided, room.shown(attack.line ?? "git status").includes("outside")]).toEqual(["ask", true]);
    });

    test.each([
      ["settings of the repository", `${IN_COMMITS}; git config diff.submodule diff`],
      ["settings of the user", `${IN_COMMITS}; git config --global diff.submodule diff`],
      [
        "a merge that is made once more",
        `git checkout -qf; git checkout -qb b; echo 1 > f.t; git commit -qam 1; git checkout -q main; echo 2 > f.t; git commit -qam 2; git merge -q b; echo 3 > f.t; git commit -qam m; git config log.diffMerges remerge; git config merge.x.driver "$EVIL"; echo '*.t merge=x' > .gitattributes`,
      ],
      ["a search", `${MISSING}; git config submodule.recurse true`, "git grep 1 HEAD~1"],
      ["a search of the user", `git config --global submodule.recurse true; ${MISSING}`, "git grep 1 HEAD~1"],
      ["a reset", `git config --global submodule.recurse true; ${IN_BRANCH}`, "git reset --hard b"],
    ])(
      "runs nothing where only commits lead to it: %s",
      (_, prepare, line = "git log -m -p --no-ext-diff --no-textconv") => {
        const room = new Room(prepare);
        const attack = { what: "", prepare, line, rule: "git reset *" };
        expect([decisionOn(room, attack), room.ran(line, "r")]).toEqual(["allow", false]);
      },
    );

    test("settings of a repository count no more where a rule covers what runs without one", () => {
      const room = new Room('git config core.sshCommand "$EVIL"');
      const decided = ["git status", "git fetch"].map((line) =>
        decisionOn(room, { what: "", prepare: "", line, rule: "git *" }),
      );
      expect(decided).toEqual(["allow", "ask"]);
    });

    test.each([
      ["a repository in the index", "cp -r . ../sub; mv ../sub .; git add sub"],
      ["a work tree", "cp -r . ../w; git worktree add -q w; cd w"],
      [
        "a submodule",
        "cp -r . ../s; git -c protocol.file.allow=always submodule --quiet add ../s sub; git commit -qm s",
      ],
      [
        "a submodule from within",
        "cp -r . ../s; git -c protocol.file.allow=always submodule --quiet add ../s sub",
        "r/sub",
      ],
      ["a work tree elsewhere", "git worktree add -q ../w", "w"],
      [
        "files of the repository that settings name",
        "git config blame.ignoreRevsFile f.t; git config core.excludesFile .skip",
      ],
      [
        "links within",
        "git pack-refs --all; mv .git/packed-refs p; ln -s ../p .git/packed-refs; rm -r .git/hooks; ln -s /usr .git/hooks",
      ],
      ["a rebase that waits", "git checkout -qf; git rebase -q -x false HEAD~0"],
      ["a sparse index", `${SPARSE}; rm -r b`],
      ["an index of the short form", "git update-index --index-version 4"],
      [
        "a clone with all that its tools write",
        "git config remote.o.url https://x/y; git config remote.o.github-pr-remote true; git lfs install --local",
      ],
    ])("does not ask for %s as such, nor for a checkout or a commit in it", (_, prepare, cwd = "r") => {
      const room = new Room(prepare);
      const lines = [
        "git status",
        "git checkout b",
        "git add -A && git commit -m x && git push",
        "git commit f.t",
      ];
      const decided = lines.map((line) =>
        decisionOn(room, { what: "", prepare, cwd, line, rule: line === "git status" ? "ls" : "git *" }),
      );
      expect(decided).toEqual(lines.map(() => "allow"));
    });
  },
);
