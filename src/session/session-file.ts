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
import { invalidArgument, type NanoAgentError } from "../core/base/errors.ts";
import { makePrivateFolders } from "../system/private-folders.ts";
import { replaceFile } from "../system/replace-file.ts";
import { systemCode } from "../system/system-error.ts";
import { NO_SESSION_HINT, SESSION_REASONS, sessionError, systemReason } from "./session-error.ts";

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

/** True when a text can name a session: `[A-Za-z0-9][A-Za-z0-9_-]{0,127}`, safe as a file name. */
export function isSessionId(text: string): boolean {
  return typeof text === "string" && SESSION_ID.test(text);
}

/** Throws `invalid_argument` for a text that cannot name a session. `what` says where it came from. */
export function assertSessionId(text: string, what: string): void {
  if (isSessionId(text)) return;
  throw invalidArgument(
    `${what} ${JSON.stringify(text)} is not a session id. Write up to 128 letters, digits, _ and -, a letter or digit first.`,
  );
}

/** `create`: the file must not exist yet. */
type OpenMode = "read" | "append" | "create";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

const FLAGS: { readonly [mode in OpenMode]: number } = {
  read: O_RDONLY,
  append: O_RDWR | O_APPEND,
  create: O_RDWR | O_APPEND | O_CREAT | O_EXCL,
};

/** Opens a session file, mode 0600. Throws `journal` for links, hard links and anything but a file. */
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
 * Opens a file named by a person for reading, following links. Throws `invalid_argument` for anything but a
 * readable file of at most `maxBytes`.
 */
export function openNamedFile(path: string, maxBytes: number = Number.POSITIVE_INFINITY): number {
  const unusable = (why: string, cause?: unknown): NanoAgentError =>
    invalidArgument(`${path} ${why}. Name a session file.`, { cause });
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
      `The session file ${path} has a second name (a hard link), so it could change unnoticed. Copy it to a separate file.`,
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
      return ` Put that right${NO_SESSION_HINT}.`;
  }
}

/**
 * Creates the folder of a session file and its parent, mode 0700. Returns the folders that got a new entry.
 * Throws `journal` for links, and errors of the file system.
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
      `The session folder ${folder} cannot be used: ${systemReason(error)}. Put that right${NO_SESSION_HINT}.`,
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

/** True if the folder exists. Throws `journal` for anything else at the path, and if it cannot be read. */
export function isFolder(path: string): boolean {
  const stats = withFolderErrors(path, () => lstatSync(path, { throwIfNoEntry: false }));
  if (stats === undefined) return false;
  const details = { reason: SESSION_REASONS.unreadable };
  if (stats.isSymbolicLink())
    throw sessionError(
      `The session folder ${path} is a link, which is not followed. Put the folder itself there${NO_SESSION_HINT}.`,
      { details },
    );
  if (!stats.isDirectory())
    throw sessionError(`${path} is not a folder. Move it away${NO_SESSION_HINT}.`, { details });
  return true;
}

export function namesIn(path: string, which: "all" | "folders" = "all"): readonly string[] {
  const entries = withFolderErrors(path, () => readdirSync(path, { withFileTypes: true }));
  return entries.filter((entry) => which === "all" || entry.isDirectory()).map(({ name }) => name);
}

function withFolderErrors<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw sessionError(
      `The session folder ${path} cannot be read: ${systemReason(error)}. Put that right${NO_SESSION_HINT}.`,
      { cause: error, details: { reason: SESSION_REASONS.unreadable } },
    );
  }
}

/** File with the id of the session used last, which holds even after a clock was set back. */
const POINTER = "newest";

export function writeLatestPointer(folder: string, sessionId: string): void {
  try {
    replaceFile(join(folder, POINTER), `${sessionId}\n`);
  } catch (error) {
    // It only matters if times mislead; a folder that cannot be written is refused elsewhere.
    if (systemCode(error) === undefined) throw error;
  }
}

/** Points to a session again when a run begins in it, if another one was opened since. */
export function refreshLatestPointer(folder: string, sessionId: string): void {
  let latest: string | undefined;
  try {
    latest = readLatestPointer(folder);
  } catch {
    // The next opened session replaces it.
  }
  if (latest !== undefined && latest !== sessionId) writeLatestPointer(folder, sessionId);
}

export function readLatestPointer(folder: string): string | undefined {
  const path = join(folder, POINTER);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const descriptor = openSessionFile(path, "read");
  try {
    return readFileSync(descriptor, "utf8").trim();
  } finally {
    closeSync(descriptor);
  }
}
