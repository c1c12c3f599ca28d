import { opendir, stat } from "node:fs/promises";
import { relative, sep } from "node:path";
import { errorCode, FileRefusal } from "../files/file-error.ts";
import { describeNearestNames } from "../files/nearest-names.ts";

/** Tells whether a search starts at a folder or a file; throws for anything else, and for a folder that cannot be read. */
export async function searchRootKind(path: string, shown: string): Promise<"folder" | "file"> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) {
      await (await opendir(path)).close();
      return "folder";
    }
    if (stats.isFile()) return "file";
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    throw new FileRefusal(`${shown}: there is no such file or folder.${await describeNearestNames(path)}`);
  }
  throw new FileRefusal(`${shown} is neither a file nor a folder: it cannot be searched.`);
}

/** A path as the model can use it in its next call: relative to the working folder where it lies below, else absolute. */
export function shownPath(path: string, cwd: string): string {
  const shown = relative(cwd, path);
  if (shown === "") return ".";
  return shown === ".." || shown.startsWith(`..${sep}`) ? path : shown.split(sep).join("/");
}
