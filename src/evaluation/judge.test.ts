import { chmodSync, closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isAlive, until } from "../../test/faults/until.ts";
import { tempFolder } from "../../test/temp-folder.ts";
import { type ProgramEnd, runProgram } from "./judge.ts";

const HOUR = 3_600_000;

function run(
  script: string,
  options: Partial<Parameters<typeof runProgram>[0]> = {},
): Promise<ProgramEnd> & { cwd: string } {
  const cwd = tempFolder({ check: script });
  chmodSync(join(cwd, "check"), 0o755);
  const env = { PATH: process.env["PATH"] ?? "" };
  const start = { path: join(cwd, "check"), cwd, env, input: "", timeoutMs: HOUR, watcher: undefined };
  const { signal } = new AbortController();
  return Object.assign(runProgram({ ...start, signal, ...options }), { cwd });
}

test("both outputs come in the order of writing, with the exit code and what was put in", async () => {
  const end = await run("#!/bin/sh\necho one\necho two >&2\ncat\nexit 3\n", { input: "three\n" });
  expect(end).toMatchObject({ code: 3, signal: null, output: "one\ntwo\nthree\n" });
  expect(end.failure).toBe(undefined);
});

test("a program whose file is still open for writing is started again until it is not", async () => {
  const cwd = tempFolder({ check: "#!/bin/sh\necho ran\n" });
  const path = join(cwd, "check");
  chmodSync(path, 0o755);
  const file = openSync(path, "r+");
  setTimeout(() => closeSync(file), 100);
  expect(await run("", { path })).toMatchObject({ code: 0, output: "ran\n" });
});

test("of a long output the end is kept, and a program that reads nothing is fine", async () => {
  const end = await run("#!/bin/sh\nyes 'a line of some length' | head -n 100000\necho last\n", {
    input: "x".repeat(1_000_000),
  });
  expect([end.code, end.output.length, end.output.endsWith("length\nlast\n")]).toEqual([0, 262_144, true]);
});

test("what a program left running ends with it, outside of its group too", async () => {
  const running = run(
    '#!/bin/sh\nsleep 1000 &\necho $! >pids\nsetsid sh -c \'echo $$ >>pids; trap "" TERM; while :; do sleep 0.05; done\' &\nwhile [ "$(wc -l <pids)" -lt 2 ]; do sleep 0.02; done\n',
  );
  const end = await running;
  const pids = readFileSync(join(running.cwd, "pids"), "utf8").trim().split("\n").map(Number);
  expect([end.code, pids.length, pids.some(isAlive)]).toEqual([0, 2, false]);
});

test("an abort ends a program that ignores TERM, and says so", async () => {
  const stop = new AbortController();
  const running = run('#!/bin/sh\ntrap "" TERM\n: >ready\nwhile :; do sleep 0.05; done\n', {
    signal: stop.signal,
  });
  await until(() => existsSync(join(running.cwd, "ready")));
  stop.abort();
  expect(await running).toMatchObject({ code: null, signal: "SIGKILL", failure: "aborted" });
  expect(await run("#!/bin/sh\nsleep 1000\n", { signal: AbortSignal.abort() })).toMatchObject({
    failure: "aborted",
  });
});

test("a folder that is not there is a failure with its reason", async () => {
  const end = await run("#!/bin/sh\n", { cwd: join(tempFolder(), "gone") });
  expect([end.code, end.failure]).toEqual([null, { message: expect.stringContaining("ENOENT") }]);
});
