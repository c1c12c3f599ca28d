import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { isAlive, until } from "../../test/faults/until.ts";
import { newId } from "../core/base/ids.ts";
import { withCallMarker } from "./process-watcher.ts";

/**
 * What a program does that is then killed; `run` starts a command in a group of its own and has its number.
 */
const prelude = (mark: string): string => `
import { spawn } from "node:child_process";
import { createProcessWatcher, withCallMarker } from ${JSON.stringify(import.meta.resolve("./process-watcher.ts"))};
const watcher = createProcessWatcher();
const mark = "${mark}";
const run = (command) => {
  const env = withCallMarker({ PATH: process.env.PATH }, "${mark}.1.");
  return spawn("/bin/sh", ["-c", command], { detached: true, stdio: ["ignore", "inherit", "ignore"], env }).pid;
};
const say = (...pids) => pids.forEach((pid) => console.log(pid));
setTimeout(() => undefined, 1e9);
`;

/** Starts a program that has such a watcher and says the numbers of `count` processes. */
async function program(count: number, body: string): Promise<{ child: ChildProcess; pids: number[] }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", prelude(newId("s")) + body], {
    env: { PATH: process.env["PATH"] },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const pids = (): number[] => said.split("\n").filter(Boolean).map(Number);
  onTestFinished(() => {
    child.kill("SIGKILL");
    for (const pid of pids()) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  });
  await until(() => pids().length === count);
  return { child, pids: pids() };
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function gone(pids: readonly number[]): Promise<boolean> {
  await until(() => !pids.some(isAlive));
  return true;
}

test.each([
  ["an ordinary process", "exec sleep 1000"],
  ["one that ignores every signal it can ignore", "trap '' HUP INT TERM; while :; do sleep 1; done"],
  ["one without an environment", "exec env -i sleep 1000"],
  ["one that is stopped", "kill -s STOP $$; exec sleep 1000"],
])("%s ends when the program that watched its group is killed", async (_what, command) => {
  const { child, pids } = await program(
    1,
    `const pid = run(${JSON.stringify(command)}); watcher.add(pid); say(pid);`,
  );
  await killed(child);
  expect(await gone(pids)).toBe(true);
});

test.runIf(process.platform === "linux")(
  "a process that carries a mark is found in a group that nobody named",
  async () => {
    const command = "setsid sh -c 'trap : TERM; echo $$; while :; do sleep 1; done' & wait";
    const { child, pids } = await program(2, `watcher.add(mark); say(run(${JSON.stringify(command)}));`);
    await killed(child);
    expect(await gone(pids)).toBe(true);
  },
);

test("what is no longer named, or was never, is left alone", async () => {
  const { child, pids } = await program(
    3,
    `const [ended, removed, never] = [1, 2, 3].map(() => run("exec sleep 1000"));
    watcher.add(removed); watcher.add(ended); watcher.add("another"); watcher.remove(removed);
    say(ended, removed, never);`,
  );
  await killed(child);
  await gone(pids.slice(0, 1));
  expect(pids.map(isAlive)).toEqual([false, true, true]);
});

test("a program that ends by itself ends what it still named, and is not kept alive by its watcher", async () => {
  const { child, pids } = await program(
    1,
    `const pid = run("exec sleep 1000"); watcher.add(pid); say(pid); setTimeout(() => process.exit(3), 10);`,
  );
  if (child.exitCode === null) await once(child, "exit");
  expect([child.exitCode, await gone(pids)]).toEqual([3, true]);
});

test.runIf(existsSync("/proc/self/task"))(
  "a watcher that somebody killed is followed by another, which knows what the first was told",
  async () => {
    const { child, pids } = await program(
      3,
      `import { readFileSync } from "node:fs";
      const [first, second] = [run("exec sleep 1000"), run("exec sleep 1000")];
      watcher.add(first);
      const children = readFileSync("/proc/self/task/" + process.pid + "/children", "utf8").trim().split(" ");
      const found = Number(children.at(-1));
      process.kill(found, "SIGKILL");
      const wait = setInterval(() => {
        try { process.kill(found, 0); }
        catch { clearInterval(wait); watcher.add(second); say(first, second, found); }
      }, 5);`,
    );
    await killed(child);
    expect(await gone(pids)).toBe(true);
  },
);

test("a mark stands beside the one there is", () => {
  const outer = withCallMarker({ A: "1" }, "x.1.");
  expect([outer, withCallMarker(outer, "y.1.")]).toEqual([
    { A: "1", NANO_AGENT_CALL: "x.1." },
    { A: "1", NANO_AGENT_CALL: "x.1.:y.1." },
  ]);
});
