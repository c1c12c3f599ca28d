import { createRequire } from "node:module";
import type * as graphemes from "@xterm/addon-unicode-graphemes";
import headless, { type Terminal } from "@xterm/headless";

const { UnicodeGraphemesAddon } = loadGraphemes();

/**
 * What knows how wide characters are. It reads its tables as if they began where their memory does, which is
 * not so for a small `Buffer`: whatever stood there before decided whether it could be loaded.
 */
function loadGraphemes(): typeof graphemes {
  const { poolSize } = Buffer;
  Buffer.poolSize = 0;
  try {
    return createRequire(import.meta.url)("@xterm/addon-unicode-graphemes") as typeof graphemes;
  } finally {
    Buffer.poolSize = poolSize;
  }
}

/** Size of a terminal. */
export interface EmulatorSize {
  readonly columns: number;
  readonly rows: number;
}

/** A stretch of a row in one look. */
export interface CellRun {
  readonly text: string;
  readonly columns: number;
  /** Palette entries; undefined: the default colour. */
  readonly color: number | undefined;
  readonly background: number | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly strike: boolean;
}

/** A terminal that draws into memory: what a person would see, and what they could scroll back to. */
export class Emulator {
  readonly #terminal: Terminal;
  #written = "";

  constructor({ columns, rows }: EmulatorSize) {
    this.#terminal = new headless.Terminal({
      cols: columns,
      rows,
      scrollback: 100_000,
      allowProposedApi: true,
    });
    this.#terminal.loadAddon(new UnicodeGraphemesAddon());
  }

  /** Everything that was written so far. */
  get written(): string {
    return this.#written;
  }

  /** Resolves when the text is on the screen. */
  write(text: string): Promise<void> {
    this.#written += text;
    return new Promise((resolve) => this.#terminal.write(text, resolve));
  }

  resize({ columns, rows }: EmulatorSize): void {
    this.#terminal.resize(columns, rows);
  }

  /** What the terminal answers to questions. */
  onReply(listener: (text: string) => void): void {
    this.#terminal.onData(listener);
  }

  /** Answers whoever asks for the background with this colour, `#rrggbb`. */
  setBackground(color: string): void {
    const [red, green, blue] = [1, 3, 5].map((at) => color.slice(at, at + 2).repeat(2));
    this.#terminal.parser.registerOscHandler(11, (data) => {
      if (data === "?") this.#terminal.input(`\u001B]11;rgb:${red}/${green}/${blue}\u001B\\`, false);
      return true;
    });
  }

  /** Modes that programs switch on. */
  get modes(): {
    readonly bracketedPaste: boolean;
    readonly wraparound: boolean;
    readonly synchronized: boolean;
  } {
    const { bracketedPasteMode, wraparoundMode, synchronizedOutputMode } = this.#terminal.modes;
    return {
      bracketedPaste: bracketedPasteMode,
      wraparound: wraparoundMode,
      synchronized: synchronizedOutputMode,
    };
  }

  /** The rows that are visible, blanks at their ends left out. */
  get screen(): readonly string[] {
    const { baseY } = this.#terminal.buffer.active;
    return this.#rows(baseY, baseY + this.#terminal.rows);
  }

  /** All rows, those that were scrolled away first; empty ones at the end left out. */
  get rows(): readonly string[] {
    const rows = [...this.#rows(0, this.#terminal.buffer.active.length)];
    while (rows.at(-1) === "") rows.pop();
    return rows;
  }

  /** The visible rows as stretches of one look. */
  get looks(): readonly (readonly CellRun[])[] {
    const buffer = this.#terminal.buffer.active;
    return Array.from({ length: this.#terminal.rows }, (_, index) =>
      runsOf(buffer.getLine(buffer.baseY + index)),
    );
  }

  /** Where the cursor is on the screen, from 0. */
  get cursor(): { readonly row: number; readonly column: number } {
    const { cursorX, cursorY } = this.#terminal.buffer.active;
    return { row: cursorY, column: cursorX };
  }

  dispose(): void {
    this.#terminal.dispose();
  }

  #rows(from: number, to: number): readonly string[] {
    const buffer = this.#terminal.buffer.active;
    return Array.from(
      { length: to - from },
      (_, index) => buffer.getLine(from + index)?.translateToString(true) ?? "",
    );
  }
}

function runsOf(line: ReturnType<Terminal["buffer"]["active"]["getLine"]>): readonly CellRun[] {
  const runs: CellRun[] = [];
  const count = line?.length ?? 0;
  for (let column = 0; column < count; column++) {
    const cell = line?.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const run = lookOf(cell);
    const last = runs.at(-1);
    const { text: _text, columns: _columns, ...look } = run;
    const { text = "", columns = 0, ...lastLook } = last ?? {};
    // Wide letters stand alone: a picture must not shift what is behind them.
    if (
      last !== undefined &&
      run.columns === 1 &&
      last.columns === last.text.length &&
      JSON.stringify(look) === JSON.stringify(lastLook)
    )
      runs[runs.length - 1] = { ...last, text: text + run.text, columns: columns + 1 };
    else runs.push(run);
  }
  return runs;
}

type Cell = NonNullable<
  ReturnType<NonNullable<ReturnType<Terminal["buffer"]["active"]["getLine"]>>["getCell"]>
>;

function lookOf(cell: Cell): CellRun {
  return {
    text: cell.getChars() || " ",
    columns: cell.getWidth(),
    color: cell.isFgPalette() ? cell.getFgColor() : undefined,
    background: cell.isBgPalette() ? cell.getBgColor() : undefined,
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    italic: cell.isItalic() !== 0,
    underline: cell.isUnderline() !== 0,
    strike: cell.isStrikethrough() !== 0,
  };
}
