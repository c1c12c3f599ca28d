import { closeSync, fsyncSync, openSync } from "node:fs";
import { systemCode } from "../session-error.ts";

/** Brings the entries of a folder to the disk. File systems that cannot sync a folder keep them in their own way. */
export function syncFolderSync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } catch (error) {
    const code = systemCode(error);
    if (code !== "EINVAL" && code !== "EPERM") throw error;
  } finally {
    closeSync(descriptor);
  }
}
