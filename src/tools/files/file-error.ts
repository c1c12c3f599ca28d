import { opendir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorMessage } from "../../core/base/errors.ts";
import { editDistance, findRedactionMarker } from "../../core/base/text.ts";
import type { ToolResult } from "../../core/tool/tool.ts";
import { errorResult } from "../../core/tool/tool-output.ts";
import { systemCode } from "../../system/system-error.ts";

export class FileRefusal extends Error {
  override readonly name = "FileRefusal";
}

/** Turns disk errors in a file tool into an error result naming `path`. Rethrows aborts. */
export async function answerFileErrors(
  path: string,
  signal: AbortSignal,
  work: () => Promise<ToolResult>,
): Promise<ToolResult> {
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    return errorResult(error instanceof FileRefusal ? error.message : describeFileError(error, path));
  }
}

function describeFileError(error: unknown, path: string): string {
  const code = systemCode(error);
  const reason = code === undefined ? undefined : REASONS.get(code);
  return reason === undefined ? `${path}: ${errorMessage(error)}` : `${path}: ${reason} (${code}).`;
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "there is no such file or folder"],
  ["EACCES", "permission denied"],
  ["EPERM", "the system does not permit it"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full; nothing was changed"],
  ["EDQUOT", "the disk quota is used up; nothing was changed"],
  ["EFBIG", "the file would be larger than the system allows; nothing was changed"],
  ["ENAMETOOLONG", "the name is too long; choose a shorter one"],
  ["ENOTDIR", "a part of the path is a file, not a folder"],
  ["EISDIR", "it is a folder, not a file"],
  ["ELOOP", "its links form a loop, or it became a link in the meantime"],
  ["ENXIO", "it is a socket or a device without a server"],
  ["EAGAIN", "reading it would wait for someone else"],
  ["EBUSY", "it is in use"],
  ["ETXTBSY", "it is a program that is running"],
  ["EMFILE", "too many files are open; try again"],
  ["EIO", "the disk reported a read or write error"],
  ["ERR_INVALID_ARG_VALUE", "a path cannot hold a NUL character"],
]);

/** The refusal of text with a redaction marker in place of a secret; `undefined` if it has none. */
export function redactedInputProblem(what: string, text: string): string | undefined {
  const mark = findRedactionMarker(text);
  if (mark === undefined) return undefined;
  return `${what} contains ${mark}, which replaces a secret that was not shown; nothing was changed. Leave that part of the text alone (an edit of the lines around it works), or refer to the variable or file that holds the secret.`;
}

/** The names nearest to the first missing part of a path, as a hint; empty if none is similar. */
export async function describeNearestNames(path: string): Promise<string> {
  for (let missing = path, folder = dirname(path); ; missing = folder, folder = dirname(folder)) {
    const names = await namesIn(folder);
    const near = nearestNames(basename(missing), names ?? []).map((name) => join(folder, name));
    if (near.length > 0) return ` Did you mean ${near.join(", ")}?`;
    if (names !== undefined) return "";
    if (folder === dirname(folder)) return "";
  }
}

const MAX_NAMES = 5000;
const MAX_SUGGESTIONS = 5;

async function namesIn(folder: string): Promise<readonly string[] | undefined> {
  try {
    const names: string[] = [];
    for await (const entry of await opendir(folder)) {
      names.push(entry.name);
      if (names.length === MAX_NAMES) break;
    }
    return names;
  } catch {
    return undefined;
  }
}

function nearestNames(wanted: string, names: readonly string[]): readonly string[] {
  const key = fold(wanted);
  return names
    .map((name) => ({ name, distance: distanceOf(key, fold(name)) }))
    .filter(({ distance }) => distance <= 0.4)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

/** 0 for the same name, 1 for one with nothing in common. A name that contains the other is near. */
function distanceOf(wanted: string, name: string): number {
  const longer = Math.max(wanted.length, name.length);
  if (wanted === name) return 0;
  if (wanted.length >= 3 && name.length >= 3 && (name.includes(wanted) || wanted.includes(name))) return 0.2;
  if (Math.abs(wanted.length - name.length) > longer * 0.4) return 1;
  return editDistance(wanted, name) / longer;
}

function fold(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
