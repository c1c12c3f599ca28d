import type { Line } from "../paint/line.ts";
import type { TerminalEvent } from "../terminal/key.ts";
import type { ViewContext } from "../views/view-context.ts";

/** What a panel looks like now. */
export interface PanelRows {
  readonly rows: readonly Line[];
  /** Where its caret is; undefined: it takes no text, and the cursor rests at the end of its first row. */
  readonly caret?: { readonly row: number; readonly column: number };
}

/** Something that stands in the place of the input for a while and takes the keys. */
export interface Panel {
  /** At most `maxRows` rows. */
  draw(context: ViewContext, maxRows: number): PanelRows;
  handle(event: TerminalEvent): void;
}
