import { type Line, line, span, type ViewContext } from "../paint/line.ts";
import type { TerminalEvent } from "../tty/key.ts";
import { keysLine } from "../views/list-lines.ts";
import { titleRule } from "../views/question-lines.ts";

export interface PanelRows {
  readonly rows: readonly Line[];
  /** Position of its caret; undefined: it takes no text, and the cursor rests at the end of its first row. */
  readonly caret?: { readonly row: number; readonly column: number };
}

/** A panel on a screen of lines: its rows, and the handler of the next line, if any. */
export interface PlainPanel {
  readonly rows: readonly Line[];
  readonly take?: (text: string) => void;
}

/** Replaces the input and takes its keys. */
export interface Panel {
  /** At most `maxRows` rows. */
  draw(context: ViewContext, maxRows: number): PanelRows;
  handle(event: TerminalEvent): void;
}

/** A panel opened by the person or one of their commands. */
export interface OpenedPanel extends Panel {
  plain(context: ViewContext): PlainPanel;
}

/** A question takes keys only after this long without one, so nothing typed for something else answers it. */
export const TYPE_AHEAD_MS = 200;

export class TypeAheadGuard {
  readonly #now: () => number;
  #since: number | undefined;

  /** `now`: milliseconds since an arbitrary moment. */
  constructor(now: () => number) {
    this.#now = now;
  }

  start(): void {
    this.#since ??= this.#now();
  }

  /** Restarts the quiet after a key meant for something else. */
  restart(): void {
    if (this.#since !== undefined) this.#since = this.#now();
  }

  get isOver(): boolean {
    return this.#since !== undefined && this.#now() - this.#since >= TYPE_AHEAD_MS;
  }
}

export interface PageOptions {
  readonly title: string;
  /** At the right end of the title's rule, if all rows are shown. */
  readonly right?: string;
  readonly rows: (context: ViewContext) => readonly Line[];
  readonly fromEnd?: boolean;
}

export class Pager implements OpenedPanel {
  readonly #options: PageOptions;
  readonly #close: () => void;
  #first: number;
  #height = 1;
  #count = 0;
  #rows: readonly Line[] | undefined;
  #width = 0;

  constructor(options: PageOptions, close: () => void) {
    this.#options = options;
    this.#close = close;
    this.#first = options.fromEnd === true ? Number.MAX_SAFE_INTEGER : 0;
  }

  plain(context: ViewContext): PlainPanel {
    const { title, rows } = this.#options;
    return { rows: [[span(title, { role: "accent", bold: true })], ...rows(context)] };
  }

  draw(context: ViewContext, maxRows: number): PanelRows {
    if (this.#rows === undefined || this.#width !== context.width) {
      this.#rows = this.#options.rows(context);
      this.#width = context.width;
    }
    this.#height = Math.max(1, maxRows - 2);
    this.#count = this.#rows.length;
    this.#first = Math.max(0, Math.min(this.#first, this.#count - this.#height));
    const shown = this.#rows.slice(this.#first, this.#first + this.#height);
    const last = Math.min(this.#count, this.#first + this.#height);
    const title = line(this.#options.title, { bold: true });
    const isWhole = shown.length === this.#count;
    const right = isWhole ? (this.#options.right ?? "") : `${this.#first + 1}-${last} of ${this.#count}`;
    const head = titleRule({ title, right, role: "rule" }, context);
    const { up, down } = context.marks;
    const keys = keysLine(
      [...(isWhole ? [] : [`${up}${down} page up, page down scroll`]), "esc close"],
      context,
    );
    return { rows: [...head, ...shown, keys].slice(0, maxRows) };
  }

  handle(event: TerminalEvent): void {
    if (event.type === "text") {
      if (event.text === "q") this.#close();
      else if (event.text === " ") this.#first += this.#height;
      else if (event.text === "j") this.#first++;
      else if (event.text === "k") this.#first = Math.max(0, this.#first - 1);
      else if (event.text === "G") this.#first = this.#count;
      else if (event.text === "g") this.#first = 0;
    }
    if (event.type !== "key") return;
    const by = STEPS[event.key];
    if (by !== undefined)
      this.#first = Math.max(0, this.#first + by * (event.key.startsWith("page") ? this.#height : 1));
    else if (event.key === "home") this.#first = 0;
    else if (event.key === "end") this.#first = this.#count;
    else if (CLOSING.has(event.key)) this.#close();
  }
}

const STEPS: { readonly [key: string]: number } = { up: -1, down: 1, pageup: -1, pagedown: 1 };
const CLOSING: ReadonlySet<string> = new Set(["escape", "ctrl+c", "ctrl+o", "enter"]);
