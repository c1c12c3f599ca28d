import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { newUuid } from "../core/base/ids.ts";

/** Prefix of temporary files that will replace another file. Tools hide them. */
export const TEMPORARY_PREFIX = ".nano-agent-tmp-";

/**
 * Replaces the text of a file atomically, readable by this user alone: a reader sees the old or the new text,
 * never a part. With `isSynced` it is on disk on return. Throws system errors and leaves nothing behind.
 */
export function replaceFile(
  path: string,
  text: string,
  { isSynced = false }: { readonly isSynced?: boolean } = {},
): void {
  const temporary = `${path}.${newUuid()}.tmp`;
  try {
    const file = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(file, text);
      if (isSynced) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
