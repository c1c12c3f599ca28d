import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { ownIdentity } from "../system/process-identity.ts";
import { type SessionLock, takeLock } from "./session-lock.ts";

function lockFile(): string {
  return join(tempFolder(), "s1.lock");
}

const QUICK = { patienceMs: 30 };

it("is held by one, given back, and held by the next", async () => {
  const path = lockFile();
  const first = await takeLock(path);
  await expect(takeLock(path, QUICK)).rejects.toMatchObject({
    code: "journal",
    message: expect.stringContaining(`in use by process ${process.pid}`),
    details: { pid: process.pid, host: hostname() },
  });
  first.release();
  const second = await takeLock(path);
  first.release();
  expect([first.isHeld(), second.isHeld(), readdirSync(dirname(path))]).toEqual([false, true, ["s1.lock"]]);
});

it("names --fork-session as the way out", async () => {
  const path = lockFile();
  await takeLock(path);
  await expect(takeLock(path, QUICK)).rejects.toThrow("--fork-session");
});

it("is taken over from a process that has ended", async () => {
  const path = lockFile();
  const { pid } = spawnSync("true");
  writeFileSync(path, JSON.stringify({ ...ownIdentity(), pid, token: "old" }));
  expect((await takeLock(path, QUICK)).isHeld()).toBe(true);
});

it("is taken over when the number of its process went to another one", async () => {
  const path = lockFile();
  writeFileSync(path, JSON.stringify({ ...ownIdentity(), start: "12", token: "old" }));
  expect((await takeLock(path, QUICK)).isHeld()).toBe(true);
});

it.runIf(process.platform === "linux")(
  "is taken over from before the machine was started again",
  async () => {
    const path = lockFile();
    writeFileSync(path, JSON.stringify({ ...ownIdentity(), boot: "another", token: "old" }));
    expect((await takeLock(path, QUICK)).isHeld()).toBe(true);
  },
);

it.runIf(process.platform === "linux")("is taken over from a zombie", async () => {
  const path = lockFile();
  // The shell starts a child and becomes a program that never waits for it: only then the child ends.
  const parent = spawn("sh", ["-c", "cat <&3 & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [said] = (await once(parent.stdio[1] as Readable, "data")) as [Buffer];
  const pid = Number(said.toString());
  await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, "utf8")).toBe("sleep\n");
  parent.stdio[3]?.destroy();
  const state = (): string => readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[2] ?? "";
  await expect.poll(state).toBe("Z");
  const start = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")[21] ?? "";
  writeFileSync(path, JSON.stringify({ ...ownIdentity(), pid, start, token: "old" }));
  expect((await takeLock(path, QUICK)).isHeld()).toBe(true);
});

it("is left to a process of another machine, saying what to remove", async () => {
  const path = lockFile();
  writeFileSync(path, JSON.stringify({ ...ownIdentity(), host: "elsewhere", token: "old" }));
  await expect(takeLock(path, QUICK)).rejects.toThrow(`process ${process.pid} on elsewhere`);
  await expect(takeLock(path, QUICK)).rejects.toThrow(`remove ${path}`);
});

it.each(["", "{", '{"pid":1}', "null"])("is taken over when nobody can have written %j", async (text) => {
  const path = lockFile();
  writeFileSync(path, text);
  expect((await takeLock(path, QUICK)).isHeld()).toBe(true);
});

it("is refused when it is a link", async () => {
  const path = lockFile();
  const target = join(tempFolder(), "elsewhere");
  writeFileSync(target, "precious");
  symlinkSync(target, path);
  await expect(takeLock(path, QUICK)).rejects.toMatchObject({ code: "journal" });
  expect(readFileSync(target, "utf8")).toBe("precious");
});

it("goes to exactly one of many that see the same dead holder", async () => {
  for (let round = 0; round < 30; round++) {
    const path = lockFile();
    writeFileSync(path, JSON.stringify({ ...ownIdentity(), start: "12", token: "old" }));
    const taken = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(path, QUICK)));
    const locks = taken.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(locks.filter((lock) => lock.isHeld())).toHaveLength(1);
    expect(locks).toHaveLength(1);
  }
});

it("does not remove the lock of one that was faster", async () => {
  const path = lockFile();
  writeFileSync(path, JSON.stringify({ ...ownIdentity(), start: "12", token: "old" }));
  let fast: Promise<SessionLock> | undefined;
  const slow = takeLock(path, {
    ...QUICK,
    beforeTakeover: () => {
      fast ??= takeLock(path, QUICK);
    },
  });
  await expect(slow).rejects.toMatchObject({ code: "journal" });
  expect((await fast)?.isHeld()).toBe(true);
});

it("does not stay taken by a guard that a killed process left", async () => {
  const path = lockFile();
  const dead = JSON.stringify({ ...ownIdentity(), start: "12", token: "old" });
  writeFileSync(path, dead);
  writeFileSync(`${path}.takeover`, dead);
  const lock = await takeLock(path, { patienceMs: 300 });
  expect([lock.isHeld(), existsSync(`${path}.takeover`)]).toEqual([true, false]);
});
