import { type Line, line, span } from "../paint/line.ts";
import type { TerminalEvent } from "../tty/key.ts";
import { keysLine } from "../views/list-lines.ts";
import { titleRule } from "../views/question-lines.ts";
import type { ViewContext } from "../views/view-context.ts";
import type { Panel, PanelRows } from "./panel.ts";

/** The contents of a {@link Pager}. */
export interface PageOptions {
  readonly title: string;
  /** At the right end of the title's rule, where all rows are shown. */
  readonly right?: string;
  readonly rows: (context: ViewContext) => readonly Line[];
  readonly onClose?: () => void;
  readonly fromEnd?: boolean;
}

/** Text to scroll through. */
export class Pager implements Panel {
  readonly #options: PageOptions & { readonly onClose: () => void };
  #first: number;
  #height = 1;
  #count = 0;
  #rows: readonly Line[] | undefined;
  #width = 0;

  constructor(options: PageOptions & { readonly onClose: () => void }) {
    this.#options = options;
    this.#first = options.fromEnd === true ? Number.MAX_SAFE_INTEGER : 0;
  }

  page(context: ViewContext): readonly Line[] {
    const { title, rows } = this.#options;
    return [[span(title, { role: "accent", bold: true })], ...rows(context)];
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
      if (event.text === "q") this.#options.onClose();
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
    else if (CLOSING.has(event.key)) this.#options.onClose();
  }
}

const STEPS: { readonly [key: string]: number } = { up: -1, down: 1, pageup: -1, pagedown: 1 };
const CLOSING: ReadonlySet<string> = new Set(["escape", "ctrl+c", "ctrl+o", "enter"]);
