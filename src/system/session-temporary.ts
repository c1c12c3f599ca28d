import { lstatSync } from "node:fs";
import { join } from "node:path";

const PLACE = /^(\/(?:var\/)?tmp)(?:\/([^/]+))?(?:\/(.*))?$/s;

/**
 * The real path behind an absolute path if the session's commands see the folder `temporary` as `/tmp`:
 * anything missing outside is looked for in that folder. Without `temporary`, the path itself.
 */
export function sessionPlace(path: string, temporary: string | undefined): string {
  const place = temporary === undefined ? null : PLACE.exec(path);
  if (temporary === undefined || place === null) return path;
  const [, folder = "", name, rest = ""] = place;
  if (name === undefined) return temporary;
  const isOutside = lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  return isOutside || name === ".." ? path : join(temporary, name, rest);
}
