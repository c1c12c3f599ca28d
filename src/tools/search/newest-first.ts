import { lstat } from "node:fs/promises";
import { join } from "node:path";

/** Sorts paths below a folder by time of change, the newest first, then by name. Files that are gone come last. */
export async function newestFirst(folder: string, paths: readonly string[]): Promise<readonly string[]> {
  const times = new Map<string, number>();
  for (let start = 0; start < paths.length; start += BATCH) {
    await Promise.all(
      paths
        .slice(start, start + BATCH)
        .map(async (path) => times.set(path, await timeOf(join(folder, path)))),
    );
  }
  const timed = (path: string) => times.get(path) ?? 0;
  return paths.toSorted((a, b) => timed(b) - timed(a) || (a < b ? -1 : 1));
}

const BATCH = 64;

async function timeOf(path: string): Promise<number> {
  return lstat(path).then(
    (stats) => stats.mtimeMs,
    () => 0,
  );
}
