import { type Line, line, type ViewContext, wrapLine } from "../paint/line.ts";
import type { Role } from "../paint/theme.ts";
import type { TerminalEvent } from "../tty/key.ts";
import { keysLine } from "../views/list-lines.ts";
import { choiceRows, titleRule } from "../views/question-lines.ts";
import { type Panel, type PanelChoices, type PanelRows, Quiet } from "./panel.ts";

/** A choice that matters: nothing is marked before an arrow was pressed. */
export interface ChoiceOptions<T> {
  readonly title: string;
  /** Sentences between the title and the answers. */
  readonly text: readonly string[];
  readonly items: readonly { readonly label: string; readonly value: T }[];
  /** The effect of Escape, in a word or two. */
  readonly escape: string;
  /** Default `warning`. */
  readonly role?: Role;
  readonly onChoose: (value: T) => void;
  readonly onCancel: () => void;
  /** Milliseconds from some moment on. */
  readonly now: () => number;
}

const CANCELS: ReadonlySet<string> = new Set(["escape", "ctrl+c", "ctrl+d"]);

/** A question of the program itself, with its answers by number or arrow. */
export class ChoicePanel<T> implements Panel {
  readonly #options: ChoiceOptions<T>;
  readonly #quiet: Quiet;
  #marked: number | undefined;

  constructor(options: ChoiceOptions<T>) {
    this.#options = options;
    this.#quiet = new Quiet(options.now);
  }

  get choices(): PanelChoices {
    const { title, text, items } = this.#options;
    return {
      title: [title, ...text].join(" "),
      labels: items.map(({ label }) => label),
      choose: (index) => this.#choose(index),
    };
  }

  draw(context: ViewContext, maxRows: number): PanelRows {
    this.#quiet.begin();
    const { title, text, items, escape, role = "warning" } = this.#options;
    const { width, marks } = context;
    const head = titleRule({ title: line(title, { role, bold: true }), role }, context);
    const notes = text.flatMap((each) =>
      wrapLine(line(each), { width, first: line("  "), rest: line("  ") }),
    );
    const labels = items.map(({ label }) => label);
    const answers = choiceRows(labels, { marked: this.#marked, role, context });
    const long = [`${marks.up}${marks.down} enter choose`, `esc ${escape}`];
    const keys = keysLine(
      long.join(" . ").length + 2 <= width ? long : [`1-${items.length}`, `esc ${escape}`],
      context,
    );
    const room = maxRows - head.length - answers.length;
    const gap: readonly Line[] = room >= notes.length + 4 ? [[]] : [];
    const shown = notes.slice(0, Math.max(0, room - 1));
    return { rows: [...head, ...gap, ...shown, ...gap, ...answers, ...gap, ...(room > 0 ? [keys] : [])] };
  }

  handle(event: TerminalEvent): void {
    if (event.type === "reply") return;
    if (!this.#quiet.isOver) {
      this.#quiet.disturb();
      return;
    }
    const { items, onCancel } = this.#options;
    const count = items.length;
    const at = this.#marked;
    const key = event.type === "key" ? event.key : event.text;
    if (event.type !== "paste" && /^[1-9]$/.test(key)) this.#choose(Number(key) - 1);
    else if (key === "down" || key === "tab") this.#marked = ((at ?? -1) + 1) % count;
    else if (key === "up") this.#marked = ((at ?? count) + count - 1) % count;
    else if (key === "enter" && at !== undefined) this.#choose(at);
    else if (CANCELS.has(key)) onCancel();
  }

  #choose(index: number): void {
    const item = this.#options.items[index];
    if (item !== undefined) this.#options.onChoose(item.value);
  }
}
