import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { PinnedFolder } from "./pinned-folder.ts";

/**
 * Gives a file the extended attributes and access lists of another one in the same folder, as far as the user
 * may. Node cannot see either, so the system's own `cp` does it: on Linux, where that is GNU's. Elsewhere,
 * and where it fails, nothing happens.
 */
export async function copyAttributes(folder: PinnedFolder, from: string, to: string): Promise<void> {
  const program = process.platform === "linux" ? COPY_PROGRAMS.find((path) => existsSync(path)) : undefined;
  if (program === undefined) return;
  await new Promise<void>((resolve) => {
    const args = ["--attributes-only", "--preserve=mode,xattr", "--", from, to];
    const child = spawn(program, args, { cwd: folder.self, env: {}, stdio: "ignore" });
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
}

/** By their full path: what `PATH` leads to may be a file of the workspace. */
const COPY_PROGRAMS = ["/usr/bin/cp", "/bin/cp"] as const;
