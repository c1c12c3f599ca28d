import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and its missing parents, one by one, for this user alone. Returns those that were made,
 * outermost first. Always ends, unlike Node's own recursion in an existing folder that refuses new ones with
 * ENOENT, such as /proc. `make` makes one folder; rethrows its errors unless the folder exists by then.
 */
export function makePrivateFolders(
  folder: string,
  make: (path: string) => void = (path) => mkdirSync(path, { mode: 0o700 }),
): readonly string[] {
  const missing: string[] = [];
  for (let path = folder; !existsSync(path) && dirname(path) !== path; path = dirname(path))
    missing.push(path);
  const created = missing.reverse();
  for (const path of created) {
    try {
      make(path);
    } catch (error) {
      if (!existsSync(path)) throw error;
    }
  }
  return created;
}
