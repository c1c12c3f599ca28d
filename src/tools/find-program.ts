import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { isWithin } from "../system/real-path.ts";

/** Where a program may come from. */
export interface ProgramSearch {
  /** As the variable `PATH`. Relative and empty folders are passed over: they would be the project's. */
  readonly path: string;
  /** Folders, links resolved, whose programs are not used: a project's run only when asked for. */
  readonly avoid: readonly string[];
}

/** The absolute path of a program; `undefined` when it is in none of the folders it may come from. */
export function findProgram(name: string, { path, avoid }: ProgramSearch): string | undefined {
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const file = join(folder, process.platform === "win32" ? `${name}.exe` : name);
    const real = executableAt(file);
    if (real !== undefined && ![folder, real].some((place) => isWithin(place, ...avoid))) return file;
  }
  return undefined;
}

function executableAt(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() ? realpathSync(path) : undefined;
  } catch {
    // Not there, or not for us.
    return undefined;
  }
}
