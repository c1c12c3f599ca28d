/**
 * Says `ready`, takes the lock FILE when a line arrives, says whether it got it, and keeps it until its input
 * ends: `node lock-race.ts FILE`.
 */
import { createInterface } from "node:readline";
import { takeLock } from "../../src/session/session-lock.ts";

const [, , file = ""] = process.argv;
process.stdout.write("ready\n");
let tried = false;
for await (const _line of createInterface({ input: process.stdin })) {
  if (tried) continue;
  tried = true;
  const lock = await takeLock(file, { patienceMs: 60 }).catch(() => undefined);
  process.stdout.write(lock?.isHeld() === true ? "got it\n" : "refused\n");
}
