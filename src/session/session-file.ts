import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  type Stats,
} from "node:fs";
import { dirname, join } from "node:path";
import { misuse, type NanoAgentError } from "../core/base/errors.ts";
import { makePrivateFolders } from "../system/private-folders.ts";
import { replaceFile } from "../system/replace-file.ts";
import { systemCode } from "../system/system-error.ts";
import { OR_UNKEPT, SESSION_REASONS, sessionError, systemReason } from "./session-error.ts";

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** True when a text can name a session: `[A-Za-z0-9][A-Za-z0-9_-]{0,127}`, safe as a file name. */
export function isSessionId(text: string): boolean {
  return typeof text === "string" && SESSION_ID.test(text);
}

/** Throws `invalid_argument` for a text that cannot name a session. `what` says where it came from. */
export function assertSessionId(text: string, what: string): void {
  if (isSessionId(text)) return;
  throw misuse(
    `${what} ${JSON.stringify(text)} is not a session id. Write up to 128 letters, digits, _ and -, a letter or digit first.`,
  );
}

/** How a session file is opened: to read it, to go on with it, or as a new one that must not be there yet. */
type OpenMode = "read" | "append" | "create";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

const FLAGS: { readonly [mode in OpenMode]: number } = {
  read: O_RDONLY,
  append: O_RDWR | O_APPEND,
  create: O_RDWR | O_APPEND | O_CREAT | O_EXCL,
};

/** Opens a session file, mode 0600. Throws `journal` for links, second names and what is no file. */
export function openSessionFile(path: string, mode: OpenMode): number {
  let descriptor: number;
  try {
    descriptor = openSync(path, FLAGS[mode] | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    throw sessionError(
      `The session file ${path} cannot be opened: ${systemReason(error)}.${advice(error, mode)}`,
      {
        cause: error,
      },
    );
  }
  try {
    const stats = fstatSync(descriptor);
    assertPlainFile(path, stats);
    if (mode !== "read" && (stats.mode & 0o777) !== 0o600) fchmodSync(descriptor, 0o600);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/**
 * Opens a file that a person has named, to read it, wherever links lead. Throws `invalid_argument` for what
 * is no file, cannot be read, or has more than `maxBytes`.
 */
export function openNamedFile(path: string, maxBytes: number = Number.POSITIVE_INFINITY): number {
  const unusable = (why: string, cause?: unknown): NanoAgentError =>
    misuse(`${path} ${why}. Name a session file.`, { cause });
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | O_NONBLOCK);
  } catch (error) {
    throw unusable(`cannot be read: ${systemReason(error)}`, error);
  }
  const stats = fstatSync(descriptor);
  if (stats.isFile() && stats.size <= maxBytes) return descriptor;
  closeSync(descriptor);
  throw unusable(stats.isFile() ? `is longer than ${maxBytes} bytes` : "is not a file");
}

function assertPlainFile(path: string, stats: Stats): void {
  if (!stats.isFile()) throw sessionError(`The session file ${path} is not a regular file.`);
  if (stats.nlink > 1)
    throw sessionError(
      `The session file ${path} has a second name (a hard link), so it could change unseen. Copy it to a file of its own.`,
    );
}

function advice(error: unknown, mode: OpenMode): string {
  switch (systemCode(error)) {
    case "ENOENT":
      return mode === "create" ? " Name a file in a folder that is there." : "";
    case "EEXIST":
      return " Choose another name, or remove it first.";
    case "ELOOP":
      return " Links are not followed: put the file itself there.";
    default:
      return ` Put that right${OR_UNKEPT}.`;
  }
}

/**
 * Makes the folder of a session file and the one around it, mode 0700, where they are missing. Resolves to
 * the folders that got a new entry by that. Throws `journal` for a link in their place and for what the file
 * system refuses.
 */
export function makeSessionFolder(folder: string): readonly string[] {
  const root = dirname(folder);
  try {
    const [first] = makePrivateFolders(dirname(root));
    const changed = first === undefined ? [] : [dirname(first)];
    return [...changed, ...[root, folder].flatMap((path) => (makePrivate(path) ? [dirname(path)] : []))];
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    throw sessionError(
      `The session folder ${folder} cannot be used: ${systemReason(error)}. Put that right${OR_UNKEPT}.`,
      { cause: error },
    );
  }
}

function makePrivate(path: string): boolean {
  const isNew = !isFolder(path);
  if (isNew) makePrivateFolders(path);
  if ((lstatSync(path).mode & 0o777) !== 0o700) chmodSync(path, 0o700);
  return isNew;
}

/** True when there is a folder; throws `journal` for anything else in its place, and where that is hidden. */
export function isFolder(path: string): boolean {
  const stats = looked(path, () => lstatSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) return false;
  const details = { reason: SESSION_REASONS.unreadable };
  if (stats.isSymbolicLink())
    throw sessionError(
      `The session folder ${path} is a link, which is not followed. Put the folder itself there${OR_UNKEPT}.`,
      { details },
    );
  if (!stats.isDirectory())
    throw sessionError(`${path} is not a folder. Move it away${OR_UNKEPT}.`, { details });
  return true;
}

export function namesIn(path: string, which: "all" | "folders" = "all"): readonly string[] {
  const entries = looked(path, () => readdirSync(path, { withFileTypes: true }));
  return entries.filter((entry) => which === "all" || entry.isDirectory()).map(({ name }) => name);
}

function looked<T>(path: string, look: () => T): T {
  try {
    return look();
  } catch (error) {
    throw sessionError(
      `The session folder ${path} cannot be read: ${systemReason(error)}. Put that right${OR_UNKEPT}.`,
      { cause: error, details: { reason: SESSION_REASONS.unreadable } },
    );
  }
}

/** Names the session of a folder that was used last, even if a clock was set back since. */
const MARK = "newest";

/** Marks a session as the one used last in its folder. */
export function markNewest(folder: string, sessionId: string): void {
  try {
    replaceFile(join(folder, MARK), `${sessionId}\n`);
  } catch (error) {
    // The mark only decides between sessions whose times mislead: what matters is refused elsewhere.
    if (systemCode(error) === undefined) throw error;
  }
}

/** Marks a session again in which a run begins, if another one was opened since. */
export function markUsed(folder: string, sessionId: string): void {
  let marked: string | undefined;
  try {
    marked = readMark(folder);
  } catch {
    // Whoever opens a session next replaces it.
  }
  if (marked !== undefined && marked !== sessionId) markNewest(folder, sessionId);
}

export function readMark(folder: string): string | undefined {
  const path = join(folder, MARK);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const descriptor = openSessionFile(path, "read");
  try {
    return readFileSync(descriptor, "utf8").trim();
  } finally {
    closeSync(descriptor);
  }
}
