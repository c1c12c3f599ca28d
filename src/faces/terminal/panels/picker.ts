import { columnsOf } from "../../text/columns.ts";
import { candidatesOf, fuzzyBest } from "../editor/complete-input.ts";
import { type Editor, EMPTY_EDITOR, editorRows } from "../editor/editor.ts";
import { editLine } from "../editor/keymap.ts";
import type { ViewContext } from "../paint/line.ts";
import { fitLine, type Line, line, span, wrapLine } from "../paint/line.ts";
import type { Role } from "../paint/theme.ts";
import type { TerminalEvent } from "../tty/key.ts";
import { keysLine, type ListRow, listLines } from "../views/list-lines.ts";
import { answerRows, titleRule } from "../views/question-lines.ts";
import { type OpenedPanel, type PanelRows, type PlainPanel, TypeAheadGuard } from "./panel.ts";

/** Fields may be getters: each frame reads them again. */
export interface PickerItem<T> extends ListRow {
  readonly value: T;
  /** Searched instead of label and note. */
  readonly find?: string;
  /** Rows shown below the list while the item is marked. */
  readonly preview?: () => readonly (string | Line)[];
}

export interface PickOptions<T> {
  readonly title: string;
  readonly right?: string;
  readonly items: readonly PickerItem<T>[];
  /** A question of the program, answered by number or arrow: nothing is marked before an arrow is pressed. */
  readonly question?: { readonly text: string; readonly escape: string; readonly role?: Role };
  /** `answer`: index in `answers` of the chosen one. */
  readonly onChoose: (value: T, answer: number) => void;
  readonly onCancel?: () => void;
  /** Further matches, shown after those of the list. */
  readonly search?: (query: string) => Promise<readonly PickerItem<T>[]>;
  /** Index of the item marked first. Default 0. */
  readonly selected?: number;
  /** False for a short list: typing does not filter it. */
  readonly isSearched?: boolean;
  /** Ways to use the marked item, by number; Enter takes the first. */
  readonly answers?: (item: T) => readonly string[];
  /** A row below the list. */
  readonly side?: () => Line;
  /** Handles a key or letter for the marked item; returns the index to mark then, if known. */
  readonly onKey?: (key: string, at: number) => number | undefined;
  /** The value that pasted text chooses in a list without typing. */
  readonly fromPaste?: (text: string) => T;
  /** The effect of keys. Default: Enter chooses. */
  readonly keys?: readonly string[];
}

interface PickerHost {
  /** Closes the list before its answer counts. */
  readonly close: () => void;
  readonly onChange: () => void;
  /** Milliseconds since an arbitrary moment. */
  readonly now: () => number;
}

const PREVIEW_ROWS = 5;
const LIST_ROWS = 15;
/** `search` starts after this long without typing. */
const SEARCH_DELAY_MS = 120;

const STEPS: { readonly [key: string]: number } = {
  up: -1,
  "ctrl+p": -1,
  down: 1,
  "ctrl+n": 1,
  tab: 1,
  pageup: -LIST_ROWS,
  pagedown: LIST_ROWS,
};
const CANCELS: ReadonlySet<string> = new Set(["escape", "ctrl+c", "ctrl+d"]);

export class Picker<T> implements OpenedPanel {
  readonly #options: PickOptions<T>;
  readonly #host: PickerHost;
  readonly #quiet: TypeAheadGuard;
  #filter: Editor = EMPTY_EDITOR;
  #marked: number;
  #found: readonly PickerItem<T>[] = [];
  #isSearching = false;
  #searchTimer: NodeJS.Timeout | undefined;

  constructor(options: PickOptions<T>, place: PickerHost) {
    this.#options = options;
    this.#host = place;
    this.#quiet = new TypeAheadGuard(place.now);
    this.#marked = options.selected ?? (options.question === undefined ? 0 : -1);
  }

  plain(): PlainPanel {
    const { title, items, answers, question, onCancel } = this.#options;
    const all = items.flatMap((item) =>
      (answers?.(item.value) ?? [""]).map((answer, index) => ({ item, answer, index })),
    );
    const labels = all.map(({ item: { label, note, end = "" }, answer }) =>
      [label, textOf(note), end, answer].filter((text) => text !== "").join("  "),
    );
    const rows = [
      question === undefined ? title : `${title} ${question.text}`,
      ...labels.map((label, index) => `${index + 1}. ${label}`),
      "Number, or an empty line for none:",
    ];
    const take = (text: string): void => {
      const chosen = all[Number(text.trim()) - 1];
      if (chosen === undefined) this.#close(onCancel);
      else this.#take(chosen.item.value, chosen.index);
    };
    return { rows: rows.map((row) => line(row)), take };
  }

  draw(context: ViewContext, maxRows: number): PanelRows {
    this.#quiet.start();
    const { width, marks } = context;
    const { title, right = "", isSearched = true, keys = ["enter choose"], question } = this.#options;
    if (question !== undefined) return { rows: this.#question(question, context, maxRows) };
    const items = this.#shown();
    this.#marked = Math.max(0, Math.min(this.#marked, items.length - 1));
    const marked = items[this.#marked];
    const head = titleRule({ title: line(title, { bold: true }), right, role: "rule" }, context);
    const below = this.#rowsBelow(marked, width).filter((rows) => rows.length > 0 && maxRows >= 10);
    const isLoose = maxRows >= head.length + items.length + below.flat().length + below.length + 4;
    const gap: readonly Line[] = isLoose ? [[]] : [];
    const foot = [...below.flatMap((rows) => [...gap, ...rows]), ...(below.length > 0 ? gap : [])];
    const search = isSearched ? [this.#searchRow(context)] : [];
    const used = head.length + search.length + gap.length + foot.length + 1;
    const room = Math.max(1, Math.min(LIST_ROWS, maxRows - used));
    const list =
      items.length === 0
        ? [
            line(this.#isSearching ? "  searching" : isSearched ? "  no match" : "  none left", {
              role: "muted",
            }),
          ]
        : listLines(items, { selected: this.#marked, maxRows: room, width, marks });
    const { text, caret } = this.#filter;
    const rows = [
      ...head,
      ...search,
      ...gap,
      ...list,
      ...foot,
      keysLine([...keys, "esc back"], context),
    ].slice(0, maxRows);
    if (!isSearched) return { rows };
    const column = Math.min(width - 1, columnsOf(`${marks.prompt} ${text.slice(0, caret)}`));
    return { rows, caret: { row: head.length, column } };
  }

  #question(
    { text, escape, role = "warning" }: NonNullable<PickOptions<T>["question"]>,
    context: ViewContext,
    maxRows: number,
  ): readonly Line[] {
    const { width, marks } = context;
    const { title, items } = this.#options;
    const head = titleRule({ title: line(title, { role, bold: true }), role }, context);
    const notes = wrapLine(line(text), { width, first: line("  "), rest: line("  ") });
    const answers = items.flatMap(({ label }, index) =>
      answerRows(label, index, { isMarked: index === this.#marked, role }, context),
    );
    const long = [`${marks.up}${marks.down} enter choose`, `esc ${escape}`];
    const fits = long.join(" . ").length + 2 <= width;
    const keys = keysLine(fits ? long : [`1-${items.length}`, `esc ${escape}`], context);
    const room = maxRows - head.length - answers.length;
    const gap: readonly Line[] = room >= notes.length + 4 ? [[]] : [];
    const shown = notes.slice(0, Math.max(0, room - 1));
    return [...head, ...gap, ...shown, ...gap, ...answers, ...gap, ...(room > 0 ? [keys] : [])];
  }

  /** The rows below the list: the side row, the ways to use the marked item, its preview. */
  #rowsBelow(marked: PickerItem<T> | undefined, width: number): readonly (readonly Line[])[] {
    const { side, answers } = this.#options;
    const preview = (marked?.preview?.() ?? [])
      .slice(0, PREVIEW_ROWS)
      .map((each) => fitLine(typeof each === "string" ? line(`  ${each}`, { role: "muted" }) : each, width));
    const uses = marked === undefined ? [] : (answers?.(marked.value) ?? []);
    return [side === undefined ? [] : [side()], uses.length === 0 ? [] : inlineAnswers(uses, width), preview];
  }

  #searchRow({ width, marks }: ViewContext): Line {
    const { text } = this.#filter;
    const typed = text === "" ? span("type to search", { role: "muted" }) : span(text);
    return fitLine([span(`${marks.prompt} `, { role: "accent" }), typed], width - 1);
  }

  handle(event: TerminalEvent): void {
    const { onKey, question } = this.#options;
    if (event.type === "reply") return;
    if (question !== undefined && !this.#quiet.isOver) return this.#quiet.restart();
    const key = event.type === "key" ? event.key : event.type === "text" ? event.text : "";
    const to = onKey?.(key, this.#marked);
    if (to !== undefined) this.#marked = to;
    else if (event.type !== "key" || !this.#key(key)) this.#typed(event);
  }

  #typed(event: TerminalEvent): void {
    const { isSearched = true, fromPaste, question } = this.#options;
    if (isSearched && question === undefined) this.#type(editLine(this.#filter, event));
    else if (event.type === "paste" && fromPaste !== undefined) this.#take(fromPaste(event.text), 0);
    else if (event.type === "text" && /^[1-9]$/.test(event.text)) this.#number(Number(event.text) - 1);
  }

  /** False for a key that only edits the query. */
  #key(key: string): boolean {
    const step = STEPS[key];
    if (step !== undefined) this.#move(step);
    else if (CANCELS.has(key)) this.#close(this.#options.onCancel);
    else if (key === "enter") this.#choose(0);
    else return false;
    return true;
  }

  #close(then: (() => void) | undefined): void {
    this.#host.close();
    then?.();
  }

  #take(value: T, answer: number): void {
    this.#close(() => this.#options.onChoose(value, answer));
  }

  /** A number selects an answer if there are any, else a row. */
  #number(index: number): void {
    if (this.#options.answers !== undefined) this.#choose(index);
    else if (index < this.#options.items.length) {
      this.#marked = index;
      this.#choose(0);
    }
  }

  #choose(answer: number): void {
    const { answers } = this.#options;
    const item = this.#shown()[this.#marked];
    if (item !== undefined && answer < (answers?.(item.value).length ?? 1)) this.#take(item.value, answer);
  }

  #move(by: number): void {
    const count = this.#shown().length;
    const to = Math.max(this.#marked, by < 0 ? 0 : -1) + by;
    this.#marked =
      Math.abs(by) === 1 ? (to + count) % Math.max(1, count) : Math.max(0, Math.min(count - 1, to));
  }

  #type(filter: Editor): void {
    const isSame = filter.text === this.#filter.text;
    this.#filter = filter;
    if (isSame) return;
    this.#marked = 0;
    this.#found = [];
    clearTimeout(this.#searchTimer);
    const query = filter.text.trim();
    this.#isSearching = this.#options.search !== undefined && query !== "";
    if (this.#isSearching) this.#searchTimer = setTimeout(() => void this.#search(query), SEARCH_DELAY_MS);
  }

  async #search(query: string): Promise<void> {
    const { search } = this.#options;
    const found = (await search?.(query).catch(() => [])) ?? [];
    if (this.#filter.text.trim() !== query) return;
    this.#found = found;
    this.#isSearching = false;
    this.#host.onChange();
  }

  #shown(): readonly PickerItem<T>[] {
    const { items } = this.#options;
    const query = this.#filter.text.trim();
    if (query === "") return items;
    const byText = new Map(items.map((item) => [item.find ?? `${item.label} ${textOf(item.note)}`, item]));
    const { best } = fuzzyBest(query, candidatesOf([...byText.keys()]), 200);
    // Sorted by score, rows no longer match their headings.
    const own = best.flatMap((text) => byText.get(text) ?? []).map((item) => withoutGroup(item));
    const all = [...own.filter(({ isDim }) => isDim !== true), ...own.filter(({ isDim }) => isDim === true)];
    return [...all, ...this.#found.filter((item) => !own.some((each) => each.value === item.value))];
  }
}

function textOf(note: ListRow["note"]): string {
  return typeof note === "string" ? note : (note ?? []).map(({ text }) => text).join("");
}

function withoutGroup<T>({ label, mark, note, end, isDim, value, preview }: PickerItem<T>): PickerItem<T> {
  return { label, mark, note, end, isDim, value, ...(preview === undefined ? {} : { preview }) };
}

function inlineAnswers(answers: readonly string[], width: number): readonly Line[] {
  const spans = answers.flatMap((text, index) => [
    span(index === 0 ? "  " : "     "),
    span(`${index + 1}`, { role: "accent" }),
    span(`  ${text}`),
  ]);
  return wrapLine(spans, { width, rest: line("  ") });
}

export interface FieldOptions {
  readonly title: string;
  readonly notes: readonly string[];
  readonly problem?: string | undefined;
  /** True: the typed text is hidden. */
  readonly isSecret?: boolean;
  readonly enter: string;
  readonly onEnter: (text: string) => void;
  readonly onCancel: () => void;
}

export class FieldPanel implements OpenedPanel {
  readonly #options: FieldOptions;
  #editor: Editor = EMPTY_EDITOR;

  constructor(options: FieldOptions) {
    this.#options = options;
  }

  plain(): PlainPanel {
    const { title, notes, problem = "", onEnter, onCancel } = this.#options;
    const texts = [title, ...notes, problem].filter((text) => text !== "").join(" ");
    return {
      rows: [line(`${texts} (an empty line goes back)`)],
      take: (text) => (text.trim() === "" ? onCancel() : onEnter(text.trim())),
    };
  }

  draw(context: ViewContext, maxRows: number): PanelRows {
    const { width, marks } = context;
    const { title, notes, problem = "", isSecret = false, enter } = this.#options;
    const head = titleRule({ title: line(title, { bold: true }), role: "rule" }, context);
    const { text, caret } = this.#editor;
    const hidden = marks.bullet.repeat(text.length);
    const { rows, caret: at } = editorRows(isSecret ? { text: hidden, caret } : { text, caret }, {
      width,
      maxRows: 3,
      prompt: span(`${marks.prompt} `, { role: "accent" }),
      placeholder: "",
      marks,
    });
    const texts = [
      ...notes.map((each) => line(each, { role: "muted" })),
      ...(problem === "" ? [] : [line(problem, { role: "bad" })]),
    ];
    const wrapped = texts.flatMap((each) => wrapLine(each, { width, first: line("  ") }));
    const shown = wrapped.slice(0, Math.max(0, maxRows - head.length - rows.length - 3));
    const keys = keysLine([`enter ${enter}`, "esc back"], context);
    const all = [...head, ...rows, ...(shown.length === 0 ? [] : [[], ...shown]), [], keys];
    return { rows: all.slice(0, maxRows), caret: { row: head.length + at.row, column: at.column } };
  }

  handle(event: TerminalEvent): void {
    const key = event.type === "key" ? event.key : "";
    if (CANCELS.has(key)) this.#options.onCancel();
    else if (key === "enter" && this.#editor.text.trim() !== "")
      this.#options.onEnter(this.#editor.text.trim());
    else this.#editor = editLine(this.#editor, event);
  }
}
