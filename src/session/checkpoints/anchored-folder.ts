import { closeSync, constants, existsSync, lstatSync, openSync } from "node:fs";
import { bytesOfKey, childKey, nativePath, type PathKey, partsOf } from "./path-key.ts";

/** A folder that cannot be exchanged for a link while it is in use. */
export interface AnchoredFolder {
  /** What the file system takes for an entry of it. */
  readonly entry: (name: PathKey) => string | Buffer;
  readonly close: () => void;
}

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/**
 * Opens a folder below a root part by part, following no link. On Linux its entries are then reached through the open folder itself,
 * wherever its path leads meanwhile; elsewhere the parts are looked at just before. Throws what the file system says.
 */
export function anchorFolder(root: string, key: PathKey): AnchoredFolder {
  if (!existsSync(DESCRIPTORS)) return checkedFolder(root, key);
  let descriptor = openSync(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    for (const part of partsOf(key)) {
      const inner = openSync(within(descriptor, part), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      closeSync(descriptor);
      descriptor = inner;
    }
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  const opened = descriptor;
  return { entry: (name) => within(opened, name), close: () => closeSync(opened) };
}

const DESCRIPTORS = "/proc/self/fd";

function within(descriptor: number, name: PathKey): Buffer {
  return Buffer.concat([Buffer.from(`${DESCRIPTORS}/${descriptor}/`), bytesOfKey(name)]);
}

function checkedFolder(root: string, key: PathKey): AnchoredFolder {
  let folder: PathKey = "";
  for (const part of ["", ...partsOf(key)]) {
    folder = part === "" ? "" : childKey(folder, part);
    const path = nativePath(root, folder);
    if (!lstatSync(path).isDirectory()) throw new Error(`${String(path)} is not a folder, or a link to one`);
  }
  const base = nativePath(root, key);
  return {
    entry: (name) => Buffer.concat([Buffer.from(base), Buffer.from("/"), bytesOfKey(name)]),
    close: () => undefined,
  };
}
