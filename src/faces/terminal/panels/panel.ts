import type { Line } from "../paint/line.ts";
import type { TerminalEvent } from "../tty/key.ts";
import type { ViewContext } from "../views/view-context.ts";

/** The rows of a panel as it is now. */
export interface PanelRows {
  readonly rows: readonly Line[];
  /** Where its caret is; undefined: it takes no text, and the cursor rests at the end of its first row. */
  readonly caret?: { readonly row: number; readonly column: number };
}

/** A list to choose from by number. */
export interface PanelChoices {
  readonly title: string;
  readonly labels: readonly string[];
  /** Takes a place in the list, from 0. */
  readonly choose: (index: number) => void;
}

/** Something that stands in the place of the input for a while and takes the keys. */
export interface Panel {
  /** At most `maxRows` rows. */
  draw(context: ViewContext, maxRows: number): PanelRows;
  handle(event: TerminalEvent): void;
  /** Its choices, where it is a list: for a screen of lines, on which they are numbered. */
  readonly choices?: PanelChoices;
  /** All its text, where it is only read: for a screen of lines, on which nothing scrolls. */
  readonly page?: (context: ViewContext) => readonly Line[];
  /** The one line it asks for, if it does: for a screen of lines. */
  readonly field?: { readonly title: string; readonly take: (text: string) => void };
}
