/** Consecutive lines that differ, with their context. */
export interface DiffHunk {
  /** Number of its first line before and after, from 1. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Each starts with a blank (same), `-` (before) or `+` (after). */
  readonly lines: readonly string[];
}

/** The changes in a file. */
export interface FileDiff {
  readonly path: string;
  readonly hunks: readonly DiffHunk[];
  readonly added: number;
  readonly removed: number;
  readonly isNew: boolean;
}

/**
 * Parses a unified diff of one file, as the results of `write` and `edit` contain it in `metadata.diff`.
 * Ignores lines outside hunks; `undefined` if there is no hunk.
 */
export function parseUnifiedDiff(path: string, text: string, isNew: boolean): FileDiff | undefined {
  const hunks: DiffHunk[] = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const found = hunkAt(lines, at);
    if (found === undefined) continue;
    hunks.push(found.hunk);
    at = found.end - 1;
  }
  if (hunks.length === 0) return undefined;
  const count = (mark: string): number =>
    hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.startsWith(mark)).length, 0);
  return { path, hunks, added: count("+"), removed: count("-"), isNew };
}

/** The hunk whose head is in a line, and the index after it. */
function hunkAt(
  lines: readonly string[],
  at: number,
): { readonly hunk: DiffHunk; readonly end: number } | undefined {
  const [, oldStart, oldCount = "1", newStart, newCount = "1"] =
    /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(lines[at] ?? "") ?? [];
  if (oldStart === undefined) return undefined;
  let oldLeft = Number(oldCount);
  let newLeft = Number(newCount);
  const own: string[] = [];
  let end = at + 1;
  for (let line = lines[end]; line !== undefined && oldLeft + newLeft > 0; line = lines[++end]) {
    const mark = line.charAt(0);
    // A remark such as "No newline at end of file" is not a line of the file.
    if (mark !== " " && mark !== "-" && mark !== "+") continue;
    own.push(line);
    if (mark !== "+") oldLeft--;
    if (mark !== "-") newLeft--;
  }
  const hunk = {
    oldStart: startOf(oldStart, oldCount),
    newStart: startOf(newStart, newCount),
    lines: own,
  };
  return { hunk, end };
}

/** For a side without lines, a diff names the line before. */
function startOf(start: string | undefined, count: string): number {
  return Number(start) + (count === "0" ? 1 : 0);
}
