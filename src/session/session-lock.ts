import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename } from "node:path";
import { systemClock } from "../core/base/async.ts";
import { newUuid } from "../core/base/ids.ts";
import { isRecord, safeParse } from "../core/base/json.ts";
import { ownIdentity, type ProcessIdentity, processState } from "../system/process-identity.ts";
import { systemCode } from "../system/system-error.ts";
import { NO_SESSION_HINT, SESSION_REASONS, sessionError, systemReason } from "./session-error.ts";

export interface LockOptions {
  /** Called between checking a lock and taking it over; for tests. */
  readonly beforeTakeover?: () => void;
  /** Longest wait for a process that is just ending, in milliseconds. Default 300. */
  readonly patienceMs?: number;
}

export class SessionLock {
  /** Identifies this holding of the lock and no other. */
  readonly token: string;
  readonly #path: string;

  constructor(path: string, token: string) {
    this.#path = path;
    this.token = token;
  }

  isHeld(): boolean {
    return readHolder(this.#path)?.token === this.token;
  }

  /** Releases the lock; does nothing if another process has taken it. */
  release(): void {
    if (this.isHeld()) rmSync(this.#path, { force: true });
  }
}

/**
 * Takes the lock file at `path`. The lock of a process that has ended, or whose process id was reused, is
 * taken over. Throws `journal`, naming the process, if another one holds it, and for a lock that is a link or
 * cannot be written.
 */
export async function takeLock(path: string, options: LockOptions = {}): Promise<SessionLock> {
  const token = newUuid();
  const text = JSON.stringify({ ...ownIdentity(), token });
  const attempts = Math.max(1, Math.ceil((options.patienceMs ?? 300) / RETRY_MS));
  for (let attempt = 1; ; attempt++) {
    if (createLockFile(path, text)) return new SessionLock(path, token);
    const holder = readHolder(path);
    // An unreadable file may be unfinished: wait for it to become complete.
    const isFree = holder === undefined ? attempt === attempts : processState(holder) === "ended";
    if (isFree && takeOver(path, holder, text, options.beforeTakeover)) return new SessionLock(path, token);
    if (attempt === attempts) throw lockedError(path, readHolder(path) ?? holder);
    await systemClock.sleep(RETRY_MS);
  }
}

/** True while a process holds the lock at `path`; also for one on another machine, which may have ended. */
export function isLocked(path: string): boolean {
  const holder = readHolder(path);
  return holder !== undefined && processState(holder) !== "ended";
}

export function lockPath(sessionPath: string): string {
  return sessionPath.replace(/(\.jsonl)?$/, ".lock");
}

/** True while a process uses a session, or if that is unknown: opening it reports why. */
export function isSessionInUse(sessionPath: string): boolean {
  try {
    return isLocked(lockPath(sessionPath));
  } catch {
    return true;
  }
}

/** The process that uses a session, and since when; undefined if none does, or if that is unknown. */
export function sessionUser(
  sessionPath: string,
): { readonly pid: number; readonly since: number } | undefined {
  const path = lockPath(sessionPath);
  try {
    const holder = readHolder(path);
    if (holder === undefined || processState(holder) === "ended") return undefined;
    return { pid: holder.pid, since: statSync(path).mtimeMs };
  } catch {
    return undefined;
  }
}

const RETRY_MS = 30;

type Holder = ProcessIdentity & { readonly token: string };

/** Creates the file atomically with its whole text; false if it already exists. */
function createLockFile(path: string, text: string): boolean {
  const draft = `${path}.${newUuid()}`;
  try {
    writeFileSync(draft, text, { flag: "wx", mode: 0o600 });
    return tryLink(draft, path) ?? createExclusively(path, text);
  } catch (error) {
    throw sessionError(
      `The lock ${path} cannot be written: ${systemReason(error)}. Put that right${NO_SESSION_HINT}.`,
      {
        cause: error,
      },
    );
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Undefined if the file system has no hard links. */
function tryLink(draft: string, path: string): boolean | undefined {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST") return false;
    if (code === "EPERM" || code === "ENOTSUP" || code === "EOPNOTSUPP" || code === "ENOSYS")
      return undefined;
    throw error;
  }
}

function createExclusively(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Replaces the lock of an ended process. Only the holder of the guard may remove one, after another check: if
 * two saw the same dead holder, the slower one would otherwise remove the lock of the faster.
 */
function takeOver(path: string, holder: Holder | undefined, text: string, before?: () => void): boolean {
  before?.();
  const guard = `${path}.takeover`;
  if (!createLockFile(guard, text)) {
    removeStaleGuard(guard);
    return false;
  }
  try {
    if (readHolder(path)?.token !== holder?.token) return false;
    rmSync(path, { force: true });
    return createLockFile(path, text);
  } finally {
    rmSync(guard, { force: true });
  }
}

/** Moves the guard of an ended process away, and back if another process has just created it. */
function removeStaleGuard(guard: string): void {
  const holder = readHolder(guard);
  if (holder === undefined || processState(holder) !== "ended") return;
  const moved = `${guard}.${newUuid()}`;
  try {
    renameSync(guard, moved);
  } catch {
    // Another process was faster.
    return;
  }
  if (readHolder(moved)?.token === holder.token) unlinkSync(moved);
  else renameSync(moved, guard);
}

function readHolder(path: string): Holder | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw sessionError(`The lock ${path} cannot be read: ${systemReason(error)}. Remove it.`, {
      cause: error,
    });
  }
  try {
    if (!fstatSync(descriptor).isFile()) throw sessionError(`The lock ${path} is not a file. Remove it.`);
    const parsed = safeParse(readFileSync(descriptor, "utf8"));
    return parsed.ok && isHolder(parsed.value) ? parsed.value : undefined;
  } finally {
    closeSync(descriptor);
  }
}

function isHolder(value: unknown): value is Holder {
  if (!isRecord(value) || !Number.isSafeInteger(value["pid"]) || Number(value["pid"]) <= 0) return false;
  return ["start", "host", "boot", "token"].every((field) => typeof value[field] === "string");
}

/** The full command: not every command that opens a session has the option. */
function forkCommand(file: string): string {
  return `nano-agent --resume ${basename(file, ".jsonl")} --fork-session`;
}

function lockedError(path: string, holder: Holder | undefined): Error {
  const file = path.replace(/\.lock$/, ".jsonl");
  if (holder === undefined)
    return sessionError(
      `The session ${file} is in use. Try again, or continue in a copy: ${forkCommand(file)}.`,
      {
        details: { file, reason: SESSION_REASONS.inUse },
      },
    );
  const { pid, host } = holder;
  const isHere = processState(holder) !== "unknown";
  const who = isHere ? `process ${pid}` : `process ${pid} on ${host}`;
  const hint = isHere ? "" : ` If that machine is no more, remove ${path}.`;
  return sessionError(
    `The session is in use by ${who} (${file}). Wait until it has ended, or continue in a copy: ${forkCommand(file)}.${hint}`,
    { details: { pid, host, file, reason: SESSION_REASONS.inUse } },
  );
}
