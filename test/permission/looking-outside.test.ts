import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineTool } from "../../src/core/tool/tool.ts";
import { PolicyGate } from "../../src/permission/policy.ts";
import { openShellRoom } from "../shell-room.ts";
import { tempFolder } from "../temp-folder.ts";

const LINES = ["git status", "git diff", "git log -p", "git show"];

test("git that only looks runs no hook, watcher, text conversion or program of the environment", async () => {
  const evil = join(tempFolder(), "evil.sh");
  const ran = `${evil}.ran`;
  writeFileSync(evil, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
  let looks: (input: object) => boolean = () => false;
  const { cwd, bash } = openShellRoom({
    looks: (input) => looks(input),
    env: {
      BASH_ENV: evil,
      GIT_EXTERNAL_DIFF: evil,
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.fsmonitor",
      GIT_CONFIG_VALUE_0: evil,
    },
  });
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd,
      stdio: "ignore",
      env: { PATH: process.env["PATH"], HOME: cwd },
    });
  git("init", "-q");
  writeFileSync(join(cwd, ".gitattributes"), "* diff=evil filter=evil\n");
  writeFileSync(join(cwd, "a"), "1\n");
  git("add", ".");
  git("commit", "-qm", "one");
  writeFileSync(join(cwd, "a"), "2\n");
  for (const hook of ["post-index-change", "fsmonitor-watchman", "post-checkout"])
    writeFileSync(join(cwd, ".git/hooks", hook), `#!/bin/sh\n. ${evil}\n`, { mode: 0o755 });
  const gate = new PolicyGate({ cwd, home: "/home/someone", workspace: [cwd] });
  const check = (input: { readonly command: string }): string =>
    gate.check({
      callId: "1",
      tool: defineTool({ name: "bash", description: "", execute: () => "" }),
      name: "bash",
      input,
      cwd,
      sessionId: "s",
      signal: new AbortController().signal,
    }).action;
  const runAll = async (): Promise<readonly unknown[]> => {
    const rows: unknown[] = [];
    for (const command of LINES) {
      const input = { command };
      const action = check(input);
      const { isError } = await bash(input);
      rows.push([action, isError === true]);
    }
    return [...rows, existsSync(ran)];
  };
  looks = gate.looks;
  const confined = await runAll();
  looks = () => false;
  const free = await runAll();
  git("config", "diff.evil.textconv", evil);
  expect({ confined, ranWithout: free.at(-1), textconv: LINES.map((command) => check({ command })) }).toEqual(
    {
      confined: [...LINES.map(() => ["allow", false]), false],
      ranWithout: true,
      textconv: LINES.map(() => "ask"),
    },
  );
});
