import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { coveredEnvironment } from "./covered-environment.ts";
import { unattendedEnvironment } from "./shell.ts";
import { ShellSession } from "./shell-session.ts";

const GIT = ["/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git"].find((path) => existsSync(path));

test("what changes which programs run is not inherited, and what the user set for commands stands", () => {
  const inherited = {
    PATH: "/bin",
    HOME: "/h",
    LESSOPEN: "|x %s",
    GIT_EXTERNAL_DIFF: "x",
    GIT_DIR: "/x",
    GIT_AUTHOR_NAME: "a",
    RIPGREP_CONFIG_PATH: "/x",
    BASH_ENV: "/x",
    TAR_OPTIONS: "-I x",
    PERL5OPT: "-Mx",
    "BASH_FUNC_cat%%": "() { x; }",
    "__BASH_FUNC<cat>()": "() { x; }",
    cat: "() { x; }",
  };
  const { PATH, HOME, GIT_AUTHOR_NAME, GIT_CONFIG_COUNT, ...rest } = coveredEnvironment(inherited, {
    GIT_CONFIG_COUNT: "0",
    LESS: "-R",
  });
  expect({ PATH, HOME, GIT_AUTHOR_NAME, GIT_CONFIG_COUNT }).toEqual({
    PATH: "/bin",
    HOME: "/h",
    GIT_AUTHOR_NAME: "a",
    GIT_CONFIG_COUNT: "0",
  });
  expect(Object.keys(rest).filter((name) => !/^GIT_CONFIG_(?:KEY|VALUE)_/.test(name))).toEqual([
    "GIT_OPTIONAL_LOCKS",
    "LESS",
  ]);
});

test.skipIf(GIT === undefined)(
  "git runs nothing that a bare repository in the clone, a hook or a file watcher names",
  () => {
    const folder = tempFolder();
    const mark = join(folder, "ran");
    const program = join(folder, "program.sh");
    writeFileSync(program, `#!/bin/sh\necho "$0" >> ${mark}\n`);
    chmodSync(program, 0o755);
    const plain = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
    const git = (cwd: string, env: NodeJS.ProcessEnv, ...args: readonly string[]): void => {
      try {
        execFileSync(GIT ?? "", args, { cwd, env, stdio: "ignore" });
      } catch {
        // That git refuses is one of the ways in which nothing runs.
      }
    };
    const repository = join(folder, "clone");
    mkdirSync(join(repository, "docs/demo"), { recursive: true });
    git(repository, plain, "init", "-q");
    git(repository, plain, "init", "-q", "--bare", "docs/demo");
    writeFileSync(
      join(repository, "docs/demo/config"),
      `[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = ${program}\n`,
    );
    mkdirSync(join(repository, ".git/hooks"), { recursive: true });
    writeFileSync(join(repository, ".git/hooks/post-index-change"), `#!/bin/sh\necho hook >> ${mark}\n`);
    chmodSync(join(repository, ".git/hooks/post-index-change"), 0o755);
    writeFileSync(join(repository, "a"), "a\n");
    git(repository, plain, "add", "a");
    const attack = (env: NodeJS.ProcessEnv): boolean => {
      git(repository, env, "status");
      git(join(repository, "docs/demo"), env, "status");
      return existsSync(mark);
    };
    execFileSync("/bin/rm", ["-f", mark]);
    const covered = attack({ ...unattendedEnvironment(coveredEnvironment(plain)) });
    expect({ covered, ordinary: attack(plain) }).toEqual({ covered: false, ordinary: true });
  },
);

test.skipIf(GIT === undefined)(
  "git runs no hook of a repository on this machine, however a push names it",
  () => {
    const folder = tempFolder();
    const mark = join(folder, "ran");
    const plain = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: folder, GIT_CONFIG_NOSYSTEM: "1" };
    const covered = unattendedEnvironment(coveredEnvironment(plain));
    const work = join(folder, "work");
    mkdirSync(work);
    const git = (env: NodeJS.ProcessEnv, ...args: readonly string[]): void =>
      void spawnSync(GIT ?? "", args, { cwd: work, env, stdio: "ignore" });
    git(plain, "init", "-q");
    git(
      plain,
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b.example",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "one",
    );
    git(plain, "init", "-q", "--bare", "bare");
    mkdirSync(join(work, "bare/hooks"), { recursive: true });
    writeFileSync(join(work, "bare/hooks/pre-receive"), `#!/bin/sh\n: > ${mark}\n`);
    chmodSync(join(work, "bare/hooks/pre-receive"), 0o755);
    git(plain, "remote", "add", "demo", "./bare");
    const attack = (env: NodeJS.ProcessEnv): boolean => {
      git(env, "push", "demo", "HEAD:refs/heads/a");
      git(env, "send-pack", "./bare", "HEAD:refs/heads/b");
      git(env, "push", join(work, "bare"), "HEAD:refs/heads/c");
      return existsSync(mark);
    };
    expect({ covered: attack(covered), ordinary: attack(plain) }).toEqual({ covered: false, ordinary: true });
  },
);

test("a session gives it to the calls that rules alone allow, and to no other", async () => {
  const folder = tempFolder();
  const covered = {};
  const session = new ShellSession({
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: folder, LESSOPEN: "inherited" },
    isCovered: (input) => input === covered,
  });
  const seenBy = async (input: object): Promise<string> => {
    const running = await session.start({
      command: 'echo "${GIT_CONFIG_COUNT:-none} ${LESSOPEN:-none}"',
      cwd: folder,
      input,
    });
    await running.process.settled();
    const { text } = await running.look();
    await session.finish(running);
    return text.trim();
  };
  try {
    expect([await seenBy(covered), await seenBy({})]).toEqual(["16 none", "none inherited"]);
  } finally {
    await session.dispose();
  }
});
