import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { newUuid } from "../core/base/ids.ts";

/** How the names of files begin that are written to take the place of another. Tools do not show them. */
export const TEMPORARY_PREFIX = ".nano-agent-tmp-";

/**
 * Puts a text in the place of a file in one step, readable by this user alone: whoever looks finds the old
 * one or the new one, whole. With `isSynced` it is on the disk by then. Throws what the system says, and
 * leaves nothing behind.
 */
export function replaceFile(
  path: string,
  text: string,
  { isSynced = false }: { readonly isSynced?: boolean } = {},
): void {
  const draft = `${path}.${newUuid()}.tmp`;
  try {
    const file = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(file, text);
      if (isSynced) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
