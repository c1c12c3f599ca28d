import { lstatSync } from "node:fs";
import { join } from "node:path";

const TMP_PATH = /^(\/(?:var\/)?tmp)(?:\/([^/]+))?(?:\/(.*))?$/s;

/**
 * The real path behind an absolute path if the session's commands see the folder `temporary` as `/tmp`:
 * anything missing outside is looked for in that folder. Without `temporary`, the path itself.
 */
export function sessionPath(path: string, temporary: string | undefined): string {
  const match = temporary === undefined ? null : TMP_PATH.exec(path);
  if (temporary === undefined || match === null) return path;
  const [, folder = "", name, rest = ""] = match;
  if (name === undefined) return temporary;
  const isOutside = lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  return isOutside || name === ".." ? path : join(temporary, name, rest);
}
