import type { LoadHighlighter } from "../markdown/code-highlighter.ts";
import type { Marks } from "../paint/theme.ts";

/** What every view needs to know beside what it shows. */
export interface ViewContext {
  readonly width: number;
  readonly marks: Marks;
  readonly highlight?: LoadHighlighter;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether details of calls and thinking are shown where they are folded otherwise. */
  readonly details: boolean;
}
