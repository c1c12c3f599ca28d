/** What changed between two versions of a file. */
export interface FileDiff {
  /** Unified diff with three lines of context; absent when it would be too large or take too long. */
  readonly diff?: string;
  readonly additions?: number;
  readonly deletions?: number;
}

/** Compares two texts within bounds of size and time (2 MB together, 200 ms, 200 KB of diff). */
export async function diffFile(path: string, before: string, after: string): Promise<FileDiff> {
  if (before.length + after.length > MAX_COMPARED_CHARS) return {};
  const { formatPatch, structuredPatch } = await import("diff");
  const patch = structuredPatch(path, path, before, after, undefined, undefined, {
    context: 3,
    timeout: TIMEOUT_MS,
  });
  if (patch === undefined) return {};
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const additions = lines.filter((line) => line.startsWith("+")).length;
  const deletions = lines.filter((line) => line.startsWith("-")).length;
  const diff = formatPatch(patch);
  if (diff.length > MAX_DIFF_CHARS) return { additions, deletions };
  return { diff, additions, deletions };
}

const MAX_COMPARED_CHARS = 2_000_000;
const MAX_DIFF_CHARS = 200_000;
const TIMEOUT_MS = 200;
