import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isWithin, realPath } from "./real-path.ts";

export interface ProgramSearch {
  /** Formatted like `PATH`. Relative and empty folders are skipped, as they would be the project's. */
  readonly path: string;
  /** Folders, links resolved, whose programs are not used: a project's programs run only on request. */
  readonly avoid: readonly string[];
}

/** The absolute path of a program; `undefined` if it is in none of the allowed folders. */
export function findProgram(name: string, { path, avoid }: ProgramSearch): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const file = join(folder, process.platform === "win32" ? `${name}.exe` : name);
    if (isExecutable(file) && ![folder, file].some((each) => isWithin(realPath(each), ...avoid))) return file;
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Missing, or not executable for us.
    return false;
  }
}
