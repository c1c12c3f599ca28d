import { systemCodeBehind } from "../system/system-error.ts";

const FULL: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** True when an error, or what caused it, says that there is no room: making some is what helps then. */
export function isFull(error: unknown): boolean {
  return FULL.has(systemCodeBehind(error));
}
