/** A stretch of lines that differ, with the lines around them. */
export interface DiffHunk {
  /** Number of its first line before and after, from 1. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Each begins with a blank (same), `-` (before) or `+` (after). */
  readonly lines: readonly string[];
}

/** What changes in a file. */
export interface FileDiff {
  readonly path: string;
  readonly hunks: readonly DiffHunk[];
  readonly added: number;
  readonly removed: number;
  readonly isNew: boolean;
}
