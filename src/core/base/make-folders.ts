/** What {@link makeFolders} asks of a file system. */
export interface FolderCalls {
  readonly exists: (path: string) => boolean;
  readonly parentOf: (path: string) => string;
  /** Makes one folder whose parent is there. Throws what the system says. */
  readonly make: (path: string) => void;
}

/**
 * Makes a folder with those around it, one by one, and returns those that were made, the outermost first. Always ends: Node's own recursion
 * does not where a folder is there and yet refuses new ones with ENOENT, as /proc does. Throws what `make` throws, unless somebody else has
 * made the folder at the same moment.
 */
export function makeFolders(folder: string, { exists, parentOf, make }: FolderCalls): readonly string[] {
  const missing: string[] = [];
  for (let path = folder; !exists(path) && parentOf(path) !== path; path = parentOf(path)) missing.push(path);
  const made = missing.reverse();
  for (const path of made) {
    try {
      make(path);
    } catch (error) {
      if (!exists(path)) throw error;
    }
  }
  return made;
}
