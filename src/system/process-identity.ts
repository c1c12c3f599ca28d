import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { systemCode } from "./system-error.ts";

/** Facts that tell one process from every other, even after its number was reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** On Linux, ticks from boot to the start of the process; elsewhere the second it was started in. */
  readonly start: string;
  readonly host: string;
  /** Changes when the machine reboots, if that can be known. */
  readonly boot: string;
}

export function ownIdentity(): ProcessIdentity {
  const { pid } = process;
  const start = readProcessRow(pid)?.startTime ?? String(Math.round(performance.timeOrigin / 1000));
  return { pid, start, host: hostname(), boot: bootId() };
}

/** `unknown` for a process on another machine. */
export function processState(identity: ProcessIdentity): "running" | "ended" | "unknown" {
  if (identity.host !== hostname()) return "unknown";
  if (identity.boot !== bootId()) return "ended";
  if (!isPidInUse(identity.pid)) return "ended";
  const row = readProcessRow(identity.pid);
  // The children of an exiting process may still be running, so it counts as running until it has ended.
  if (row !== undefined)
    return row.startTime === identity.start && row.state !== "ended" ? "running" : "ended";
  if (process.platform === "linux") return isPidInUse(identity.pid) ? "running" : "ended";
  return isStartedAt(identity) ? "running" : "ended";
}

function bootId(): string {
  return readIfExists("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

/** True if the number belongs to a process; for a negative one, if its group has a member. */
export function isPidInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

/** Sends a signal; skips a process that is gone or belongs to another user. Negative numbers: a group. */
export function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    const code = systemCode(error);
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly group: number;
  readonly session: number;
  /** In the system's own form. Together with `pid` it identifies a process for good. */
  readonly startTime: string;
  /** `exiting`: it has freed its memory and is about to end · `ended`: it only waits for its parent. */
  readonly state: "running" | "exiting" | "ended";
}

/** Linux only. `undefined` for a process that is gone. */
export function readProcessRow(pid: number): ProcessRow | undefined {
  const stat = readIfExists(`/proc/${pid}/stat`);
  return stat === undefined ? undefined : parseStat(pid, stat);
}

/** A kernel flag (include/linux/sched.h): the process is exiting. */
const PF_EXITING = 0x4;

/** Parses a row of `/proc/<pid>/stat` (proc_pid_stat(5)); the name may contain blanks and brackets. */
export function parseStat(pid: number, stat: string): ProcessRow | undefined {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [code, ppid, group, session] = fields;
  const startTime = fields[19];
  if (code === undefined || startTime === undefined) return undefined;
  const isExiting = (Number(fields[6]) & PF_EXITING) !== 0;
  const state = /^[ZXx]/.test(code) ? "ended" : isExiting ? "exiting" : "running";
  return { pid, ppid: Number(ppid), group: Number(group), session: Number(session), startTime, state };
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Not Linux, or the process is gone.
    return undefined;
  }
}

/** `ps` and the process itself may round to different seconds. */
const START_TOLERANCE_S = 2;

function isStartedAt({ pid, start }: ProcessIdentity): boolean {
  try {
    const options = {
      encoding: "utf8",
      env: { LC_ALL: "C", PATH: "/bin:/usr/bin" },
      timeout: 2_000,
    } as const;
    const { execFileSync } = process.getBuiltinModule("node:child_process");
    const output = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], options).trim();
    const [, state = "", started = ""] = /^(\S+)\s+(.*)$/.exec(output) ?? [];
    if (state.startsWith("Z")) return false;
    return Math.abs(Date.parse(started) / 1000 - Number(start)) <= START_TOLERANCE_S;
  } catch {
    // Without ps only the number is known, and it is taken.
    return true;
  }
}
