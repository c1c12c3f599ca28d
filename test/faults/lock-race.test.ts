import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { ownIdentity } from "../../src/system/process-identity.ts";
import { tempFolder } from "../temp-folder.ts";
import { isFullSweep } from "./sweep.ts";

const ROUNDS = isFullSweep ? 30 : 2;
const PROCESSES = 6;

it("gives the lock of a dead process to exactly one of several processes that want it at the same moment", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const lock = join(tempFolder(), "s.lock");
    writeFileSync(lock, JSON.stringify({ ...ownIdentity(), start: "1", token: "of the dead" }));
    const racers = Array.from({ length: PROCESSES }, () => startRacer(lock));
    await Promise.all(racers.map(({ next }) => next()));
    for (const { child } of racers) child.stdin?.write("go\n");
    const said = await Promise.all(racers.map(({ next }) => next()));
    // Until all have tried, nobody ends: the lock of a racer that is gone would be free again.
    await Promise.all(racers.map(({ child }) => ended(child)));
    expect(said.sort()).toEqual(["got it", ...Array(PROCESSES - 1).fill("refused")]);
  }
});

function startRacer(lock: string): { readonly child: ChildProcess; readonly next: () => Promise<string> } {
  const child = spawn(process.execPath, [join(import.meta.dirname, "lock-race.ts"), lock], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("no output to read");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, next: async () => String((await lines.next()).value) };
}

async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.stdin?.end();
  await exit;
}
