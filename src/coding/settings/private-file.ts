import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import {
  errorMessage,
  invalidConfig,
  isNanoAgentError,
  type NanoAgentError,
} from "../../core/base/errors.ts";
import { takeLock } from "../../session/session-lock.ts";
import { makePrivateFolders } from "../../system/private-folders.ts";
import { replaceFile } from "../../system/replace-file.ts";
import { isNotFound, systemCode } from "../../system/system-error.ts";

/** Largest user file that is read and rewritten. */
const MAX_BYTES = 10_000_000;
/** Others hold the lock for milliseconds. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Atomically replaces the text of a user's file (`undefined`: no file); processes take turns. A link is
 * followed. Throws `invalid_config`, and anything `change` throws; the file is then unchanged.
 */
export async function changePrivateFile(
  path: string,
  change: (text: string | undefined) => string | Promise<string>,
): Promise<void> {
  const target = await withWriteError(path, () => targetOf(path));
  const lock = await withWriteError(path, () => takeLock(`${target}.lock`, { patienceMs: LOCK_TIMEOUT_MS }));
  try {
    const before = readPrivateFile(target);
    const after = await change(before);
    if (after !== before) await withWriteError(path, () => replaceFile(target, after, { isSynced: true }));
  } finally {
    lock.release();
  }
}

export function readPrivateFile(path: string): string | undefined {
  return readSettingsFile(path, MAX_BYTES)?.toString("utf8");
}

/** Reads a file; `undefined` if there is none. Never blocks. Throws `invalid_config`, naming the file. */
export function readSettingsFile(path: string, maxBytes: number): Buffer | undefined {
  let file: number | undefined;
  try {
    // Non-blocking, so that a pipe at this path cannot hold up the start.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile())
      throw fileError(path, "is not a regular file. Put a JSON file in its place or remove it");
    if (stats.size > maxBytes)
      throw fileError(path, `has ${stats.size} bytes, more than ${maxBytes}. Keep only settings in it`);
    return readFileSync(file);
  } catch (error) {
    if (isNanoAgentError(error)) throw error;
    if (isNotFound(error)) return undefined;
    throw fileError(path, `cannot be read: ${errorMessage(error)}. Repair or remove it`, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function targetOf(path: string): string {
  makePrivateFolders(dirname(path));
  try {
    return realpathSync(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return path;
    throw error;
  }
}

async function withWriteError<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileError(path, `cannot be written: ${errorMessage(error)}`);
  }
}

function fileError(path: string, what: string, cause?: unknown): NanoAgentError {
  return invalidConfig(`${path}: ${what}.`, { cause });
}
