import { realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/** The path with its links resolved, as far as it exists. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), path.slice(parent.length));
  }
}

/** True if a path is one of the folders or lies below one. All must be absolute, with links resolved. */
export function isWithin(path: string, ...folders: readonly string[]): boolean {
  return folders.some(
    (folder) => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep),
  );
}
