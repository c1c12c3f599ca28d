import { errorMessage, type Json, NanoAgentError } from "../core/base/errors.ts";
import { ownValue } from "../core/base/json.ts";
import { systemCode } from "../system/system-error.ts";

/** A session cannot be opened, read or written: code `journal`, with the file and the reason. */
export function sessionError(
  message: string,
  options: { readonly cause?: unknown; readonly details?: { readonly [key: string]: Json | undefined } } = {},
): NanoAgentError {
  return new NanoAgentError("journal", message, options);
}

export const NO_SESSION_HINT = ", or run with --no-session";

export function withoutSessionHint(message: string): string {
  return message.replaceAll(NO_SESSION_HINT, "");
}

export const SESSION_REASONS = {
  /** Another process uses the session: it can be read and copied. */
  inUse: "in_use",
  /** The folder of sessions cannot be used at all. */
  unreadable: "unreadable",
} as const;

/** A file system error in words: `no space left on the device (ENOSPC)`. Without a full stop. */
export function systemReason(error: unknown): string {
  const code = systemCode(error);
  const known = ownValue(REASONS, code);
  return known === undefined ? errorMessage(error).replace(/\.$/, "") : `${known} (${code})`;
}

const REASONS: { readonly [code: string]: string } = {
  ENOSPC: "no space left on the device",
  EFBIG: "the file may not grow any more",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "no permission",
  EPERM: "not permitted",
  EIO: "the device failed",
  ELOOP: "it is a symbolic link",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  ENOENT: "it does not exist",
  EEXIST: "it is there already",
};
