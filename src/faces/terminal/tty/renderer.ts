import { columnsOf } from "../../text/columns.ts";
import { type Line, lineColumns, paintLine } from "../paint/line.ts";
import type { Appearance, Reflow } from "../paint/theme.ts";
import type { Size } from "./key.ts";

export interface Frame {
  readonly final: readonly Line[];
  readonly live: readonly Line[];
  readonly caret: { readonly row: number; readonly column: number };
}

export interface RendererOptions {
  readonly write: (text: string) => void;
  readonly appearance: () => Appearance;
  /** How the terminal treats its lines when it becomes narrower. */
  readonly reflow: () => Reflow;
  readonly rows: number;
}

/**
 * Draws on a terminal's main screen: final lines enter its scrollback once, the rows below are drawn in
 * place, and only changes are written. It queries nothing and knows only the positions of its own rows.
 */
export class Renderer {
  readonly #options: RendererOptions;
  #shown: readonly Line[] = [];
  #rows: number;
  #caret = { row: 0, column: 0 };
  #out = "";
  #row = 0;
  #column = 0;
  /** True while the terminal cuts text wider than the window. */
  #isCutting = false;

  constructor(options: RendererOptions) {
    this.#options = options;
    this.#rows = options.rows;
  }

  draw({ final, live, caret }: Frame): void {
    const rows = final.length === 0 ? live : [...final, ...live];
    this.#out = "";
    this.#isCutting = false;
    this.#row = this.#caret.row;
    this.#column = this.#caret.column;
    for (const [index, row] of rows.entries())
      if (index < final.length || !this.#isShown(index, row)) this.#writeRow(index, row);
    if (rows.length < this.#shown.length) {
      this.#moveTo(rows.length, 0);
      this.#out += ERASE_BELOW;
    }
    this.#shown = rows.slice(final.length);
    const drew = this.#out !== "";
    this.#moveTo(final.length + caret.row, caret.column);
    this.#caret = caret;
    if (this.#out === "") return;
    const wrapping = this.#isCutting ? WRAP_ON : "";
    this.#options.write(drew ? `${BEGIN}${this.#out}${wrapping}${END}` : this.#out);
  }

  /**
   * Forgets the screen after a resize: the next frame is drawn over the old rows, wherever they are now, and
   * over nothing else.
   */
  resize({ columns, rows }: Size): void {
    const reflow = this.#options.reflow();
    // A terminal that becomes shorter drops rows below the cursor first.
    const lostRows = Math.max(0, this.#rows - rows);
    this.#rows = rows;
    const heights = this.#shown.map((row) =>
      reflow === "none" ? 1 : Math.max(1, Math.ceil(lineColumns(row) / Math.max(1, columns))),
    );
    const above = heights.slice(0, this.#caret.row).reduce((sum, height) => sum + height, 0);
    const left = Math.max(this.#caret.row + 1, heights.length - lostRows);
    const belowCaret = heights.slice(this.#caret.row, left).reduce((sum, height) => sum + height - 1, 0);
    this.#wipe(reflow === "counting" ? above + belowCaret : above);
  }

  /** Redraws all live rows with the next frame: the colours changed. */
  repaint(): void {
    this.#wipe(this.#caret.row);
  }

  /** Redraws everything on a cleared screen with the next frame: the old contents scroll away intact. */
  clearScreen(): void {
    this.#wipe(this.#caret.row);
    this.#options.write(`\u001B[${this.#rows}H${"\n".repeat(this.#rows)}\u001B[H`);
  }

  /** Erases the live rows; the cursor returns to their start, where the next frame begins. */
  erase(): void {
    this.draw({ final: [], live: [], caret: { row: 0, column: 0 } });
  }

  /** The cursor is at the start of a free line, and nothing of ours is on the screen. */
  forget(): void {
    this.#shown = [];
    this.#caret = { row: 0, column: 0 };
  }

  #wipe(above: number): void {
    this.#options.write(`${above > 0 ? `\u001B[${above}A` : ""}${ERASE_BELOW}`);
    this.forget();
  }

  #isShown(index: number, row: Line): boolean {
    const old = this.#shown[index];
    const look = this.#options.appearance();
    return old === row || (old !== undefined && paintLine(old, look) === paintLine(row, look));
  }

  /**
   * Writes a row in full. A final one ends with a line feed even if it is already visible: if the window has
   * changed meanwhile, nothing else is overwritten.
   */
  #writeRow(index: number, row: Line): void {
    const old = this.#shown[index];
    const text = row.map((each) => each.text).join("");
    this.#moveTo(index, 0);
    this.#setCutting(!MEASURED.test(text));
    this.#out += paintLine(row, this.#options.appearance());
    this.#column = columnsOf(text);
    if (old !== undefined && lineColumns(old) > this.#column) this.#out += "\u001B[K";
  }

  /**
   * Text of uncertain width is cut at the edge (DECAWM). Other text may wrap: if the window became narrower
   * meanwhile, it takes as many rows as a later {@link resize} counts.
   */
  #setCutting(isDoubtful: boolean): void {
    if (isDoubtful === this.#isCutting) return;
    this.#isCutting = isDoubtful;
    this.#out += isDoubtful ? WRAP_OFF : WRAP_ON;
  }

  /** Moves down by line feeds: at the lower edge they scroll; a cursor movement would stay on the row. */
  #moveTo(row: number, column: number): void {
    if (row < this.#row) this.#out += `\u001B[${this.#row - row}A`;
    else if (row > this.#row) {
      this.#out += "\r\n".repeat(row - this.#row);
      this.#column = 0;
    }
    this.#row = row;
    if (column !== this.#column) this.#out += column === 0 ? "\r" : `\u001B[${column + 1}G`;
    this.#column = column;
  }
}

/** One update that the terminal shows at once (DEC 2026). */
const BEGIN = "\u001B[?2026h";
const END = "\u001B[?2026l";
/** Erases from the cursor's row down, but not from column one: tmux would scroll a first row away. */
const ERASE_BELOW = "\r\u001B[K\u001B[C\u001B[J\r";
const WRAP_OFF = "\u001B[?7l";
const WRAP_ON = "\u001B[?7h";

/** Text whose width all terminals agree on. */
const MEASURED = /^[\x20-\x7e\u2500-\u257f\u4e00-\u9fff]*$/;
