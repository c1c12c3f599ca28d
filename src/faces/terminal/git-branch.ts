import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Time for which what was read of a repository is taken to hold. */
const FRESH_MS = 2_000;

/** {@link placeOf} for frames, which are many: looks again when some time has gone by. */
export function placeIn(cwd: string, elapsed: () => number): () => string {
  let place = "";
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (elapsed() - readAt >= FRESH_MS) {
      place = placeOf(cwd);
      readAt = elapsed();
    }
    return place;
  };
}

/** The branch of the repository a folder is in, else the name of the folder. */
export function placeOf(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const branch = branchIn(folder);
    if (branch !== undefined) return branch;
    if (dirname(folder) === folder) return basename(cwd) || cwd;
  }
}

function branchIn(folder: string): string | undefined {
  try {
    const git = join(folder, ".git");
    const place = statSync(git).isDirectory()
      ? git
      : resolve(
          folder,
          readFileSync(git, "utf8")
            .replace(/^gitdir:\s*/, "")
            .trim(),
        );
    const head = readFileSync(join(place, "HEAD"), "utf8").trim();
    return head.startsWith("ref: refs/heads/") ? head.slice(16) : head.slice(0, 8);
  } catch {
    // No repository here.
    return undefined;
  }
}
