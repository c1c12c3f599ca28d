import type { SkipRules } from "./skipped-names.ts";

/** A text to look for, and the place. */
export interface TextSearch extends SkipRules {
  readonly pattern: string;
  readonly folder: string;
  /** The one file in the folder to search; absent: all that are not ignored. */
  readonly file?: string;
  /** Only files that fit this glob; one without a slash names files in any folder. */
  readonly glob?: string;
  readonly mode: "files" | "content" | "count";
  /** Lines to show before and after each match, in mode `content`. */
  readonly context: number;
  readonly ignoresCase: boolean;
  /** The pattern may match across lines, and `.` a line end. */
  readonly isMultiline: boolean;
  readonly signal: AbortSignal;
  /** Takes what is found; returns false when it has enough. */
  readonly onFound: (found: FoundText) => boolean;
}

/** Something found: a file (mode `files`), its number of matching lines (`count`), or a line (`content`). */
export interface FoundText {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly count?: number;
  readonly line?: FoundLine;
}

/** A line that matches, or one around it. */
export interface FoundLine {
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** How a search ended. What was found was handed over before. */
export interface TextSearchEnd {
  /** The fault of the pattern, in the words of the engine. */
  readonly problem?: string;
  /** Number of files and folders that could not be read, or were too large. */
  readonly unread: number;
}

/** Characters of a line that are shown. */
export const MAX_LINE_CHARS = 500;
