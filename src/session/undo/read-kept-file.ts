import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import type { OmissionReason } from "../../core/agent/entries.ts";
import { systemCode } from "../../system/system-error.ts";
import { hasFacts } from "./path-state.ts";

/** A regular file as it was read: `stats` are those from before the first byte. */
export type ReadFile =
  | { readonly type: "read"; readonly stats: Stats; readonly bytes: Buffer }
  | { readonly type: "refused"; readonly reason: OmissionReason }
  /** It vanished, or something else took its place. */
  | { readonly type: "gone" };

/** Times a file is read again that is being written meanwhile. */
const MAX_TRIES = 3;

/** Reads a whole regular file: follows no link, waits for no other end. System errors never throw. */
export function readKeptFile(path: string | Buffer, maxBytes: number): ReadFile {
  let descriptor: number;
  try {
    descriptor = openSync(
      path,
      constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0),
    );
  } catch (error) {
    return refusal(error);
  }
  try {
    for (let tries = 1; ; tries++) {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return { type: "gone" };
      if (stats.size > maxBytes) return { type: "refused", reason: "too_large" };
      const bytes = readAll(descriptor, stats.size);
      const isSteady = hasFacts(stats, fstatSync(descriptor));
      // One that never rests is kept as it was read; its times will tell that it changed since.
      if (isSteady || tries === MAX_TRIES) return { type: "read", stats, bytes };
    }
  } catch (error) {
    return refusal(error);
  } finally {
    closeSync(descriptor);
  }
}

function refusal(error: unknown): ReadFile {
  const code = systemCode(error);
  if (code === undefined) throw error;
  if (code === "ENOENT" || code === "ELOOP" || code === "ENOTDIR" || code === "ENXIO")
    return { type: "gone" };
  return { type: "refused", reason: "unreadable" };
}

function readAll(descriptor: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  while (filled < size) {
    const read = readSync(descriptor, bytes, filled, size - filled, filled);
    if (read === 0) break;
    filled += read;
  }
  return bytes.subarray(0, filled);
}
