import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import headless, { type Terminal } from "@xterm/headless";

/** Size of a terminal. */
export interface EmulatorSize {
  readonly columns: number;
  readonly rows: number;
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
