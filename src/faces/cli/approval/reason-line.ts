import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import { columnsOf, lastColumns } from "../../terminal/columns.ts";
import type { Output } from "../output.ts";
import type { Style } from "../style.ts";

/** Where a {@link ReasonLine} is shown. */
export interface ReasonLineOptions {
  readonly output: Output;
  readonly style: Style;
  readonly width: () => number;
}

const LABEL = "  Why not? ";
const MAX_CHARS = 2_000;

/**
 * One line of text that a person types. It stays on one row of the terminal, whatever its length and whenever
 * the window changes.
 */
export class ReasonLine {
  readonly #options: ReasonLineOptions;
  #text = "";

  constructor(options: ReasonLineOptions) {
    this.#options = options;
  }

  get text(): string {
    return this.#text;
  }

  /** Takes keys. `submit`: Return was pressed; `cancel`: Escape or Ctrl-D. */
  type(keys: string): "submit" | "cancel" | undefined {
    if (keys === "\u001B" || keys === "\u0004") return "cancel";
    // Arrow keys and their like move nothing here.
    if (keys.startsWith("\u001B")) return undefined;
    const end = /[\r\n]$/.test(keys);
    for (const char of end ? keys.slice(0, -1) : keys) this.#key(char);
    this.show();
    return end ? "submit" : undefined;
  }

  /** Writes the line anew over itself. */
  show(): void {
    const { output, style, width } = this.#options;
    const room = Math.max(8, width() - columnsOf(LABEL) - 2);
    output.write(`\r\u001B[K${style.bold(LABEL)}${lastColumns(withHiddenShown(this.#text), room)}`);
  }

  #key(char: string): void {
    if (char === "\u007F" || char === "\b") this.#text = [...this.#text].slice(0, -1).join("");
    else if (char === "\u0015") this.#text = "";
    else if (this.#text.length < MAX_CHARS) this.#text += /[\p{Cc}\p{Cf}]/u.test(char) ? " " : char;
  }
}
