import { lstatSync } from "node:fs";
import { join } from "node:path";

const PLACE = /^(\/(?:var\/)?tmp)(?:\/([^/]+))?(?:\/(.*))?$/s;

/**
 * The path of this machine that an absolute path stands for while commands of the session see the folder
 * `temporary` as their `/tmp`: what is not there outside is looked for in that folder. Default: the path.
 */
export function sessionPlace(path: string, temporary: string | undefined): string {
  const place = temporary === undefined ? null : PLACE.exec(path);
  if (temporary === undefined || place === null) return path;
  const [, folder = "", name, rest = ""] = place;
  if (name === undefined) return temporary;
  const isOutside = lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined;
  return isOutside || name === ".." ? path : join(temporary, name, rest);
}
