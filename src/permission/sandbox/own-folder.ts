import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolders } from "../../core/base/make-folders.ts";

/** Makes a folder with those around it, for this user alone. Throws what the file system says. */
export function makeOwnFolder(folder: string): void {
  const make = (path: string): void => mkdirSync(path, { mode: 0o700 });
  makeFolders(folder, { exists: existsSync, parentOf: dirname, make });
}
