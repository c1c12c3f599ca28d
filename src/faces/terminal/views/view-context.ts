import type { LoadHighlighter } from "../markdown/code-highlighter.ts";
import type { Marks } from "../paint/theme.ts";

/** The surroundings of every view, beside its contents. */
export interface ViewContext {
  readonly width: number;
  readonly marks: Marks;
  readonly highlight?: LoadHighlighter | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** True when details of calls and thinking are shown where they are folded otherwise. */
  readonly details: boolean;
  /** True when keys and commands show more. */
  readonly hasKeys?: boolean;
}
