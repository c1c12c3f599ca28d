/** Takes the lock FILE at the moment START (milliseconds since the epoch) and says whether it got it: `node lock-race.ts FILE START`. */
import { systemClock } from "../../src/core/base/clock.ts";
import { takeLock } from "../../src/session/session-lock.ts";

const [, , file = "", start = ""] = process.argv;
await systemClock.sleep(Number(start) - Date.now());
const lock = await takeLock(file, { patienceMs: 60 }).catch(() => undefined);
process.stdout.write(lock?.isHeld() === true ? "got it\n" : "refused\n");
// Whoever got it keeps it until all have tried.
await systemClock.sleep(lock === undefined ? 0 : 1_000);
