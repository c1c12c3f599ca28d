import { existsSync, readFileSync } from "node:fs";

/** Resolves when `isTrue` says so. Waits for as long as the test is allowed to. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** The process numbers in a file, one a line: none where it is not there, or made and not yet written. */
export function pidsIn(path: string): readonly number[] {
  return existsSync(path) ? [...readFileSync(path, "utf8").matchAll(/^\d+$/gm)].map(Number) : [];
}

/**
 * Whether a process still does something: one that has ended and only waits for its parent to notice does
 * not.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = `/proc/${pid}/stat`;
    return !existsSync("/proc/self/stat") || !/\) [ZX] /.test(readFileSync(stat, "utf8"));
  } catch {
    // Gone, perhaps between two looks.
    return false;
  }
}
