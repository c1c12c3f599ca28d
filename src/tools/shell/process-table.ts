import { Buffer } from "node:buffer";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { systemClock } from "../../core/base/async.ts";
import { isPidInUse, type ProcessRow, readProcessRow, sendSignal } from "../../system/process-identity.ts";

export interface ProcessInfo {
  readonly pid: number;
  /** Its start time, in the system's own form. Together with `pid` it identifies a process for good. */
  readonly startTime: string;
  readonly command: string;
}

/** Which processes belong to us. Any of the three is enough. */
interface ProcessQuery {
  /** Text in the process's environment. Also holds for children that left their group. */
  readonly mark: string;
  /**
   * Shells we started: their group, their terminal session, and their descendants belong to us. Leave out a
   * shell that was reaped and left nothing running: its number may have been reused.
   */
  readonly roots: readonly number[];
  /** Only processes that began after this one (Linux). Leave it out if ids may have wrapped around. */
  readonly after?: number;
}

const MAX_COMMAND = 200;
/**
 * The living processes that match a query, without this process and zombies. Linux: `/proc`. Elsewhere: `ps`,
 * which shows the environment of the user's own processes only as far as the system allows. A child that left
 * group and session *and* cleared its environment is found only while its parent lives.
 */
export async function findProcesses(query: ProcessQuery): Promise<readonly ProcessInfo[]> {
  if (process.platform === "win32") return [];
  return process.platform === "linux" ? findInProcWithRetry(query) : findWithPs(query);
}

/** Retries for a process that is just becoming another program. */
const MAX_SCANS = 4;
const SCAN_DELAY_MS = 5;

/** Retries if nothing was found while a process without an environment is becoming another. */
async function findInProcWithRetry(query: ProcessQuery): Promise<readonly ProcessInfo[]> {
  let { found, isSettled } = findInProc(query);
  for (let attempt = 1; attempt < MAX_SCANS && found.length === 0 && !isSettled; attempt++) {
    await systemClock.sleep(SCAN_DELAY_MS);
    ({ found, isSettled } = findInProc(query));
  }
  return found;
}

/** {@link findProcesses} for a moment when nothing can be awaited. Linux only; elsewhere empty. */
export function findProcessesNow(query: ProcessQuery): readonly ProcessInfo[] {
  return process.platform === "linux" ? findInProc(query).found : [];
}

export function isRunning(info: ProcessInfo): boolean {
  if (process.platform !== "linux") return isPidInUse(info.pid);
  const row = readProcessRow(info.pid);
  return row !== undefined && row.startTime === info.startTime && row.state === "running";
}

/** True if any process was started since `pid` was, or if the system does not tell (not Linux). */
export function hasStartedSince(pid: number): boolean {
  const last = tryRead("/proc/loadavg")?.toString().trim().split(" ").at(-1);
  return last === undefined || Number(last) !== pid;
}

/** True if the group of this leader has a member, zombies included. */
export function hasGroup(leader: number): boolean {
  return process.platform !== "win32" && isPidInUse(-leader);
}

/** `isSettled`: no process that may belong to us was without an environment. */
function findInProc(query: ProcessQuery): {
  readonly found: readonly ProcessInfo[];
  readonly isSettled: boolean;
} {
  const rows: ProcessRow[] = [];
  for (const pid of candidatePids(query.after)) {
    const row = readProcessRow(pid);
    if (row?.state === "running") rows.push(row);
  }
  const mark = Buffer.from(query.mark);
  let isSettled = true;
  const isMarked = (row: ProcessRow): boolean => {
    const environ = tryRead(`/proc/${row.pid}/environ`);
    // Without `after` every process is examined, and many system processes have no environment.
    if (environ?.length === 0 && query.after !== undefined) isSettled = false;
    return environ?.includes(mark) ?? false;
  };
  const found = selectRows(rows, query.roots, isMarked).map((row) => {
    return { pid: row.pid, startTime: row.startTime, command: readCommand(row.pid) };
  });
  return { found, isSettled };
}

function candidatePids(after: number | undefined): readonly number[] {
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  if (after === undefined) return pids;
  const last = Number(tryRead("/proc/loadavg")?.toString().trim().split(" ").at(-1));
  // The process numbers have wrapped around.
  return last >= after
    ? pids.filter((pid) => pid >= after && pid <= last)
    : pids.filter((pid) => pid >= after || pid <= last);
}

/** Rows that belong to the roots, carry the mark, or descend from one that does. Never this process. */
export function selectRows(
  rows: readonly ProcessRow[],
  roots: readonly number[],
  isMarked: (row: ProcessRow) => boolean,
): readonly ProcessRow[] {
  const ours = new Set<number>(roots);
  const isOurs = (row: ProcessRow): boolean =>
    ours.has(row.pid) ||
    ours.has(row.ppid) ||
    roots.includes(row.group) ||
    roots.includes(row.session) ||
    isMarked(row);
  const found = new Map<number, ProcessRow>();
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const row of rows) {
      if (found.has(row.pid) || row.pid === process.pid || row.pid === 1 || !isOurs(row)) continue;
      found.set(row.pid, row);
      ours.add(row.pid);
    }
  }
  return [...found.values()];
}

function readCommand(pid: number): string {
  const words = tryRead(`/proc/${pid}/cmdline`)?.toString() ?? "";
  const text =
    words === ""
      ? `[${tryRead(`/proc/${pid}/comm`)?.toString().trim() ?? "?"}]`
      : words.replaceAll("\0", " ");
  return shorten(text);
}

function tryRead(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

async function findWithPs(query: ProcessQuery): Promise<readonly ProcessInfo[]> {
  const lines = parsePs(await runPs());
  const texts = new Map(lines.map((line) => [line.row.pid, line.text]));
  const living = lines.map((line) => line.row).filter((row) => row.state === "running");
  const chosen = selectRows(living, query.roots, (row) => texts.get(row.pid)?.includes(query.mark) ?? false);
  return chosen.map((row) => ({
    pid: row.pid,
    startTime: row.startTime,
    command: shorten(withoutEnvironment(texts.get(row.pid) ?? "")),
  }));
}

function runPs(): Promise<string> {
  const columns = "pid=,ppid=,pgid=,stat=,lstart=,command=";
  const env = { PATH: "/bin:/usr/bin", LC_ALL: "C" };
  return new Promise((resolve) => {
    const options = { env, maxBuffer: 64 * 1024 * 1024 };
    execFile("ps", ["-axww", "-E", "-o", columns], options, (error, stdout) =>
      resolve(error === null ? stdout : ""),
    );
  });
}

const PS_LINE = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+ +\S+ +\d+ +[\d:]+ +\d+)\s(.*)$/;

export function parsePs(output: string): readonly { readonly row: ProcessRow; readonly text: string }[] {
  return output.split("\n").flatMap((line) => {
    const match = PS_LINE.exec(line);
    if (match === null) return [];
    const [, pid, ppid, group, state = "", startTime = "", text = ""] = match;
    const row: ProcessRow = {
      pid: Number(pid),
      ppid: Number(ppid),
      group: Number(group),
      session: Number(group),
      startTime,
      state: /^[ZX]/.test(state) ? "ended" : "running",
    };
    return [{ row, text }];
  });
}

/** `ps -E` appends the environment to the command line. */
function withoutEnvironment(text: string): string {
  const environment = / [A-Za-z_]\w*=/.exec(text);
  return environment === null ? text : text.slice(0, environment.index);
}

function shorten(command: string): string {
  const line = command.replace(/\s+/g, " ").trim();
  return line.length <= MAX_COMMAND ? line : `${line.slice(0, MAX_COMMAND - 1)}…`;
}

const KILL_ROUNDS = 40;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 50;

/**
 * Ends processes: TERM (and CONT), KILL after the grace period. `groups` of leaders not yet reaped are
 * signalled as a whole. Returns those that survive even KILL.
 */
export async function endProcesses(
  query: ProcessQuery,
  graceMs: number,
  groups: readonly number[] = [],
): Promise<readonly ProcessInfo[]> {
  const deadline = performance.now() + graceMs;
  let found = await findProcesses(query);
  for (const group of groups) sendSignal(-group, "SIGTERM");
  for (const { pid } of found) sendSignal(pid, "SIGTERM");
  for (const group of groups) sendSignal(-group, "SIGCONT");
  for (const { pid } of found) sendSignal(pid, "SIGCONT");
  for (let pause = FIRST_PAUSE_MS; found.length > 0; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (found.some(isRunning)) {
      if (performance.now() >= deadline) break;
      await systemClock.sleep(Math.min(pause, Math.max(1, deadline - performance.now())));
    } else found = await findProcesses(query);
  }
  return killAll(query, found, groups);
}

async function killAll(
  query: ProcessQuery,
  remaining: readonly ProcessInfo[],
  groups: readonly number[],
): Promise<readonly ProcessInfo[]> {
  let found = remaining;
  for (let round = 0; round < KILL_ROUNDS && found.length > 0; round++) {
    for (const group of groups) sendSignal(-group, "SIGKILL");
    for (const info of found) if (isRunning(info)) sendSignal(info.pid, "SIGKILL");
    await systemClock.sleep(Math.min(FIRST_PAUSE_MS * (round + 1), LONGEST_PAUSE_MS));
    found = await findProcesses(query);
  }
  return found;
}
