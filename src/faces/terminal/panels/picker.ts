import { columnsOf } from "../../text/columns.ts";
import { type Editor, EMPTY_EDITOR } from "../editor/editor.ts";
import { candidatesOf, fuzzyBest } from "../editor/fuzzy.ts";
import { editLine } from "../editor/keymap.ts";
import { fitLine, type Line, line, span } from "../paint/line.ts";
import type { TerminalEvent } from "../tty/key.ts";
import { keysLine, listLines } from "../views/list-lines.ts";
import { titleRule } from "../views/question-lines.ts";
import type { ViewContext } from "../views/view-context.ts";
import type { Panel, PanelChoices, PanelRows } from "./panel.ts";

/** Something to choose. */
export interface PickerItem<T> {
  readonly label: string;
  readonly note?: string;
  readonly value: T;
  /** Rows shown below the list while the item is marked. */
  readonly preview?: () => readonly string[];
}

/** The choices in a list. */
export interface PickOptions<T> {
  readonly title: string;
  readonly items: readonly PickerItem<T>[];
  readonly onChoose: (value: T) => void;
  readonly onCancel?: () => void;
  /** Further items for what was typed, found elsewhere. */
  readonly search?: (query: string) => Promise<readonly PickerItem<T>[]>;
  /** Place of the item that is marked first. Default 0. */
  readonly marked?: number;
}

/** Options of a {@link Picker}. */
export interface PickerOptions<T> extends PickOptions<T> {
  readonly onCancel: () => void;
  readonly onChange: () => void;
}

const PREVIEW_ROWS = 5;
const LIST_ROWS = 12;
/** Elsewhere is searched when nothing was typed for so long. */
const PAUSE_MS = 120;

const STEPS: { readonly [key: string]: number } = {
  up: -1,
  "ctrl+p": -1,
  down: 1,
  "ctrl+n": 1,
  tab: 1,
  pageup: -LIST_ROWS,
  pagedown: LIST_ROWS,
};

/** A list to choose from; typing narrows it. */
export class Picker<T> implements Panel {
  readonly #options: PickerOptions<T>;
  #filter: Editor = EMPTY_EDITOR;
  #marked: number;
  #found: readonly PickerItem<T>[] = [];
  #isSearching = false;
  #pause: NodeJS.Timeout | undefined;

  constructor(options: PickerOptions<T>) {
    this.#options = options;
    this.#marked = options.marked ?? 0;
  }

  get choices(): PanelChoices {
    const { title, items, onChoose } = this.#options;
    return {
      title,
      labels: items.map(({ label, note }) =>
        note === undefined || note === "" ? label : `${label}  ${note}`,
      ),
      choose: (index) => {
        const item = items[index];
        if (item !== undefined) onChoose(item.value);
      },
    };
  }

  draw(context: ViewContext, maxRows: number): PanelRows {
    const { width, marks } = context;
    const items = this.#shown();
    this.#marked = Math.max(0, Math.min(this.#marked, items.length - 1));
    const title = line(this.#options.title, { bold: true });
    const label = `${marks.prompt} `;
    const { text, caret: at } = this.#filter;
    const typed = text === "" ? span("type to search", { role: "muted" }) : span(text);
    const head = [
      ...titleRule({ title, role: "rule" }, context),
      fitLine([span(label, { role: "accent" }), typed], width - 1),
    ];
    const lines = (items[this.#marked]?.preview?.() ?? []).slice(0, PREVIEW_ROWS);
    const preview: readonly Line[] =
      maxRows >= 10 && lines.length > 0
        ? [[], ...lines.map((each) => fitLine(line(`    ${each}`, { role: "muted" }), width)), []]
        : [];
    const room = Math.max(1, Math.min(LIST_ROWS, maxRows - 1 - head.length - preview.length));
    const list =
      items.length === 0
        ? [line(this.#isSearching ? "  searching" : "  no match", { role: "muted" })]
        : listLines(items, { marked: this.#marked, maxRows: room, width, marks });
    const keys = keysLine(["enter choose", "esc back"], context);
    const caret = {
      row: head.length - 1,
      column: Math.min(width - 1, columnsOf(label + text.slice(0, at))),
    };
    return { rows: [...head, ...list, ...preview, keys].slice(0, maxRows), caret };
  }

  handle(event: TerminalEvent): void {
    const key = event.type === "key" ? event.key : "";
    const step = STEPS[key];
    if (step !== undefined) this.#move(step);
    else if (["escape", "ctrl+c", "ctrl+d"].includes(key)) this.#options.onCancel();
    else if (key === "enter") {
      const item = this.#shown()[this.#marked];
      if (item !== undefined) this.#options.onChoose(item.value);
    } else this.#type(editLine(this.#filter, event));
  }

  #move(by: number): void {
    const count = this.#shown().length;
    const to = this.#marked + by;
    this.#marked =
      Math.abs(by) === 1 ? (to + count) % Math.max(1, count) : Math.max(0, Math.min(count - 1, to));
  }

  #type(filter: Editor): void {
    const isSame = filter.text === this.#filter.text;
    this.#filter = filter;
    if (isSame) return;
    this.#marked = 0;
    this.#found = [];
    clearTimeout(this.#pause);
    const query = filter.text.trim();
    this.#isSearching = this.#options.search !== undefined && query !== "";
    if (this.#isSearching) this.#pause = setTimeout(() => void this.#search(query), PAUSE_MS);
  }

  async #search(query: string): Promise<void> {
    const { search, onChange } = this.#options;
    const found = (await search?.(query).catch(() => [])) ?? [];
    if (this.#filter.text.trim() !== query) return;
    this.#found = found;
    this.#isSearching = false;
    onChange();
  }

  #shown(): readonly PickerItem<T>[] {
    const { items } = this.#options;
    const query = this.#filter.text.trim();
    if (query === "") return items;
    const byText = new Map(items.map((item) => [`${item.label} ${item.note ?? ""}`, item]));
    const { best } = fuzzyBest(query, candidatesOf([...byText.keys()]), 200);
    const own = best.flatMap((text) => byText.get(text) ?? []);
    return [...own, ...this.#found.filter((item) => !own.some((each) => each.value === item.value))];
  }
}
