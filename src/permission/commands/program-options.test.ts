import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { policyIn, commandRoom as room } from "../../../test/permission/shell-rules.ts";

test("what only looks at the workspace needs no rule", () => {
  const { allowed } = room();
  const looking = [
    "ls -la src | head -20",
    "cat src/a.ts | wc -l",
    "sed -n '1,20p' src/a.ts",
    "grep -rn 'a|b' --include='*.ts' src 2>/dev/null",
    "find . -name '*.ts' -type f",
    "sort -rn src/a.ts | uniq -c",
    "cd src && cat a.ts && ls .. 2>&1",
    "cd sub; ls; true",
    "echo 'a $x' && date +%F && which node",
    "ls src/*.ts",
    "git --no-pager log --oneline -20",
    "git status && git diff --stat main...HEAD -- src/a.ts",
    "git branch -a",
    "git remote -v",
  ];
  const not = [
    "cat ../outside/x",
    "cat way/x",
    "cat ~/x",
    "grep -r x /etc",
    "grep --file=../outside/x src/a.ts",
    "grep -f../outside/x src/a.ts",
    "cat src/*/../../../outside/x",
    "cat .*/outside/x",
    "ls /*",
    "ls way/*",
    "cat .env",
    "cat .e*",
    "cd way && cat x",
    "cd .. && ls",
    "cd here && cat ../../outside/x",
    "false && cd src; cat ../outside/x",
    "cd sub && cat ../../outside/x",
    "cd src || ls; cat ../outside/x",
    "sort -o x src/a.ts",
    "find . -delete",
    "uniq src/a.ts x",
    "uniq src/*.ts",
    "date -s tomorrow",
    "date 01010000",
    "printf -v 'a[$(x)]' 1",
    "sed -n '1e id' src/a.ts",
    "sed -i 's/a/b/' src/a.ts",
    "tree -o x",
    "rg --pre ./x y",
    "/bin/ls",
    "ls -la; make",
    "tee x",
    "git branch new",
    "git branch -D old",
    "git remote add x y",
    "git diff --output=x",
    "git diff --no-index src /etc",
    "git log --ext-diff",
    "git -C sub status",
    "git commit -m x",
    "export PATH=. && ls",
  ];
  expect(allowed([...looking, ...not])).toEqual(looking);
  expect(allowed(looking, undefined, { defaults: false })).toEqual([]);
});

test("a cd that is never sure is followed both ways, and one that nobody can follow ends what only looks", () => {
  const { allowed } = room({ "sub/deep/x": "" });
  const fine = ["cd sub/deep && cat x && cd .. && ls", "cd sub; cat ./b", "cat sub/b | cd sub; ls sub"];
  const not = ["cd sub; cat ../../outside/x", "cd sub/deep; ls ../../..", "cd - && ls", "pushd sub && ls"];
  expect(allowed([...fine, ...not], "pushd *")).toEqual(fine);
  expect(allowed(["cd /etc && cat passwd", "cd /etc && make"], "cd * ; make")).toEqual(["cd /etc && make"]);
});

test("a program that PATH finds in the workspace is none that only looks", () => {
  const { cwd, check } = room({ "bin/ls": "#!/bin/sh\n", "node_modules/.bin/cat": "" });
  chmodSync(join(cwd, "bin/ls"), 0o755);
  const decide = (command: string, searchPath: string): string =>
    check(command, undefined, { searchPath }).decision;
  expect([
    decide("ls", `${cwd}/bin:/usr/bin:/bin`),
    decide("ls", `/usr/bin:/bin:${cwd}/bin`),
    decide("ls", "bin:/bin"),
    decide("ls", `:${cwd}/bin:/bin`),
    decide("cat src/a.ts", `${cwd}/node_modules/.bin:/bin`),
    decide("wc src/a.ts", `${cwd}/bin:/usr/bin:/bin`),
  ]).toEqual(["ask", "allow", "ask", "ask", "ask", "allow"]);
});

test("git asks where a repository brings settings that git did not write", () => {
  const evil = "[core]\n\tfsmonitor = ./evil\n";
  const plain = "[core]\n\tbare = false\n";
  const places: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    plain: { ".git/config": plain, ".git/HEAD": "" },
    config: { ".git/config": evil },
    worktree: { ".git/config": plain, ".git/config.worktree": evil },
    pointer: { ".git": "gitdir: elsewhere\n", "elsewhere/config": evil },
    common: { ".git/config": plain, ".git/commondir": "../away\n", "away/config": evil },
    bare: { HEAD: "", config: evil },
    above: { "../.git/config": evil },
  };
  const decisions = Object.entries(places).map(([name, files]) => {
    const { allowed } = room(files);
    return [name, allowed(["git status", "cd sub && git diff"], "cd *").length];
  });
  expect(Object.fromEntries(decisions)).toEqual({
    plain: 2,
    config: 0,
    worktree: 0,
    pointer: 0,
    common: 0,
    bare: 0,
    above: 0,
  });
  const { allowed } = room({ ".git/config": evil });
  expect(allowed(["git status", "git push"], "git *")).toEqual(["git status", "git push"]);
});

test("a rule that denies or asks about reading a file also ends looking at it with a command", () => {
  const { cwd } = room();
  const decide = (action: "deny" | "ask", command: string): string =>
    policyIn(cwd, { rules: [{ tool: "read", pattern: "sub/**", action }] }).check({
      tool: "bash",
      input: { command },
    }).decision;
  expect([
    decide("deny", "cat sub/b"),
    decide("ask", "cd sub && cat b"),
    decide("deny", "cat src/a.ts"),
  ]).toEqual(["ask", "ask", "allow"]);
});
