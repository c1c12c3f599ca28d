import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { lookOnlyEnvironment } from "./shell-session.ts";

test("git runs no watcher, hook, pager or external diff of a repository for what only looks", () => {
  const cwd = tempFolder({ a: "1\n", "evil.sh": "#!/bin/sh\ntouch ran\n" });
  chmodSync(join(cwd, "evil.sh"), 0o755);
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: cwd, GIT_EXTERNAL_DIFF: join(cwd, "evil.sh") };
  const git = (...args: readonly string[]): void => void execFileSync("git", args, { cwd, stdio: "ignore" });
  git("init", "-q");
  git("add", "a");
  for (const key of ["core.fsmonitor", "core.pager", "core.hooksPath"])
    git("config", key, key === "core.hooksPath" ? cwd : join(cwd, "evil.sh"));
  writeFileSync(join(cwd, "post-index-change"), "#!/bin/sh\ntouch ran\n", { mode: 0o755 });
  writeFileSync(join(cwd, "a"), "2\n");
  const ran = (variables: NodeJS.ProcessEnv): boolean => {
    for (const line of ["git status", "git diff"]) spawnSync("sh", ["-c", line], { cwd, env: variables });
    return existsSync(join(cwd, "ran"));
  };
  expect([ran({ ...lookOnlyEnvironment(env) }), ran(env)]).toEqual([false, true]);
});
