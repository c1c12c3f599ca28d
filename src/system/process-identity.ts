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
  const start = linuxState(pid)?.start ?? String(Math.round(performance.timeOrigin / 1000));
  return { pid, start, host: hostname(), boot: bootId() };
}

/** `unknown` for a process on another machine. */
export function processState(identity: ProcessIdentity): "running" | "ended" | "unknown" {
  if (identity.host !== hostname()) return "unknown";
  if (identity.boot !== bootId()) return "ended";
  if (!isTaken(identity.pid)) return "ended";
  const linux = linuxState(identity.pid);
  if (linux !== undefined) return linux.start === identity.start && linux.isAlive ? "running" : "ended";
  if (process.platform === "linux") return isTaken(identity.pid) ? "running" : "ended";
  return isStartedAt(identity) ? "running" : "ended";
}

function bootId(): string {
  return readIfExists("/proc/sys/kernel/random/boot_id")?.trim() ?? "";
}

/** True if the number belongs to a process; for a negative one, if its group has a member. */
export function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

/** Index of the start time among the fields after the name, see proc_pid_stat(5). */
const START_FIELD = 19;

/** State of a process, see proc_pid_stat(5): a zombie has ended and only waits for its parent. */
function linuxState(pid: number): { readonly start: string; readonly isAlive: boolean } | undefined {
  const text = readIfExists(`/proc/${pid}/stat`);
  // The name is in parentheses and may contain blanks and parentheses itself.
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  const start = fields?.[START_FIELD];
  if (fields === undefined || start === undefined) return undefined;
  return { start, isAlive: !["Z", "X", "x"].includes(fields[0] ?? "") };
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
