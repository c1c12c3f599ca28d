import { closeSync, constants, openSync } from "node:fs";
import { isAtPlace, pathOfOpen } from "../../system/opened-place.ts";
import { bytesOfKey, nativePath, type PathKey } from "./path-key.ts";

/** A folder that cannot be exchanged for a link while it is in use. */
export interface AnchoredFolder {
  /** The path of an entry for the file system. */
  readonly entry: (name: PathKey) => Buffer;
  readonly close: () => void;
}

/**
 * Opens a folder below a root, itself without links. Where the system has a path for what is open its entries
 * are reached by that, wherever the folder's own path leads meanwhile. Throws for a link on the way, and what
 * the file system says.
 */
export function anchorFolder(root: string, key: PathKey): AnchoredFolder {
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
  const path = nativePath(root, key);
  const descriptor = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!isAtPlace(descriptor, path)) {
    closeSync(descriptor);
    throw new Error("a link took the place of one of its folders");
  }
  const base = Buffer.from(pathOfOpen(descriptor) ?? path);
  return {
    entry: (name) => Buffer.concat([base, Buffer.from("/"), bytesOfKey(name)]),
    close: () => closeSync(descriptor),
  };
}
