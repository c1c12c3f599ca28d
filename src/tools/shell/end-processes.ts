import { systemClock } from "../../core/base/async.ts";
import { systemCode } from "../../system/system-error.ts";
import { findProcesses, isRunning, type ProcessInfo, type ProcessQuery } from "./process-table.ts";

/** How {@link endProcesses} goes about it. */
export interface EndOptions {
  /** Milliseconds between the request to end and the kill. */
  readonly graceMs: number;
  /** Groups to signal as a whole, of leaders not yet reaped: their number is still theirs. */
  readonly groups?: readonly number[];
}

/** Rounds of killing, for processes that start new ones meanwhile. */
const KILL_ROUNDS = 40;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/** Ends processes: TERM (and CONT), after the grace KILL. Returns those that even KILL did not end. */
export async function endProcesses(
  query: ProcessQuery,
  options: EndOptions,
): Promise<readonly ProcessInfo[]> {
  const deadline = performance.now() + options.graceMs;
  let found = await findProcesses(query);
  for (const group of options.groups ?? []) signal(-group, "SIGTERM");
  for (const { pid } of found) signal(pid, "SIGTERM");
  for (const group of options.groups ?? []) signal(-group, "SIGCONT");
  for (const { pid } of found) signal(pid, "SIGCONT");
  for (let pause = FIRST_PAUSE_MS; found.length > 0; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (found.some(isRunning)) {
      if (performance.now() >= deadline) break;
      await systemClock.sleep(Math.min(pause, Math.max(1, deadline - performance.now())));
    } else found = await findProcesses(query);
  }
  return killAll(query, found, options.groups ?? []);
}

async function killAll(
  query: ProcessQuery,
  leftOver: readonly ProcessInfo[],
  groups: readonly number[],
): Promise<readonly ProcessInfo[]> {
  let found = leftOver;
  for (let round = 0; round < KILL_ROUNDS && found.length > 0; round++) {
    for (const group of groups) signal(-group, "SIGKILL");
    for (const info of found) if (isRunning(info)) signal(info.pid, "SIGKILL");
    await systemClock.sleep(Math.min(FIRST_PAUSE_MS * (round + 1), LONGEST_PAUSE_MS));
    found = await findProcesses(query);
  }
  return found;
}

/** Sends a signal; a process that is gone, or belongs to another user, is passed over. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    const code = systemCode(error);
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
