import { errorMessage } from "../../core/base/errors.ts";
import { findRedactionMark } from "../../core/base/text.ts";
import type { ToolResult } from "../../core/tool/tool.ts";
import { errorResult } from "../../core/tool/tool-output.ts";
import { systemCode } from "../../system/system-error.ts";

/** A reason not to touch a file, in words for the model. */
export class FileRefusal extends Error {
  override readonly name = "FileRefusal";
}

/** Turns what goes wrong on disk in a file tool into an error result naming `path`. Throws aborts on. */
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

/** One sentence for a failed file operation: what happened to `path`, and where it helps what to do. */
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
  ["ELOOP", "its links lead in a circle, or it became a link meanwhile"],
  ["ENXIO", "it is a socket or a device that nobody serves"],
  ["EAGAIN", "reading it would wait for someone else"],
  ["EBUSY", "it is in use"],
  ["ETXTBSY", "it is a program that is running"],
  ["EMFILE", "too many files are open; try again"],
  ["EIO", "the disk reported a read or write error"],
  ["ERR_INVALID_ARG_VALUE", "a path cannot hold a NUL character"],
]);

/** The answer to a redaction mark where the real text is needed; `undefined` without one. */
export function redactedInput(what: string, text: string): string | undefined {
  const mark = findRedactionMark(text);
  if (mark === undefined) return undefined;
  return `${what} contains ${mark}, which stands for a secret that was not shown; nothing was changed. Leave that part of the text alone (an edit of the lines around it works), or refer to the variable or file that holds the secret.`;
}
