import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder with those around it, one by one, for this user alone, and returns those that were made, the
 * outermost first. Always ends: Node's own recursion does not where a folder is there and yet refuses new
 * ones with ENOENT, as /proc does. Throws what `make` throws, which makes one folder, unless somebody else
 * has made it at the same moment.
 */
export function makePrivateFolders(
  folder: string,
  make: (path: string) => void = (path) => mkdirSync(path, { mode: 0o700 }),
): readonly string[] {
  const missing: string[] = [];
  for (let path = folder; !existsSync(path) && dirname(path) !== path; path = dirname(path))
    missing.push(path);
  const made = missing.reverse();
  for (const path of made) {
    try {
      make(path);
    } catch (error) {
      if (!existsSync(path)) throw error;
    }
  }
  return made;
}
