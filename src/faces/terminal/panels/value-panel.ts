import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import type { Question, QuestionReply } from "../../../view/question.ts";
import { fieldHint, ValueForm } from "../../../view/value-form.ts";
import { type Editor, EMPTY_EDITOR, insertText } from "../editor/editor.ts";
import { editorRows } from "../editor/editor-rows.ts";
import { editLine } from "../editor/keymap.ts";
import { fitLine, line, span, wrapLine } from "../paint/line.ts";
import type { TerminalEvent } from "../tty/key.ts";
import { keysLine } from "../views/list-lines.ts";
import type { ViewContext } from "../views/view-context.ts";
import type { Panel, PanelRows } from "./panel.ts";
import { Quiet } from "./quiet.ts";

/** Options of a {@link ValuePanel}. */
export interface ValuePanelOptions {
  readonly question: Question;
  readonly answer: (id: string, reply: QuestionReply) => void;
  readonly onWhole: (question: Question) => void;
  /** Takes what was on its way before the question could be seen. */
  readonly onTyped: (event: TerminalEvent) => void;
  /** Milliseconds from some moment on. */
  readonly now: () => number;
}

/** Asks for a value that fits a schema, one field after the other. Escape refuses, up goes back. */
export class ValuePanel implements Panel {
  readonly question: Question;
  readonly #options: ValuePanelOptions;
  readonly #quiet: Quiet;
  /** True once a key was for the question: from then on all are. */
  #isTaken = false;
  readonly #form: ValueForm;
  /** The text of each field as it was written. */
  readonly #texts: string[] = [];
  #editor: Editor = EMPTY_EDITOR;
  #fault = "";

  constructor(options: ValuePanelOptions) {
    this.#options = options;
    this.question = options.question;
    this.#quiet = new Quiet(options.now);
    this.#form = new ValueForm(this.question.schema ?? {});
  }

  draw({ width, marks }: ViewContext, maxRows: number): PanelRows {
    this.#quiet.begin();
    const { field, at, fields } = this.#form;
    const head = wrapLine([span(withHiddenShown(this.question.reason), { role: "warning", bold: true })], {
      width,
      first: line("? "),
    });
    const hint = field === undefined ? undefined : fieldHint(field);
    const notes = [field?.note, hint].flatMap((note) =>
      note === undefined
        ? []
        : wrapLine([span(withHiddenShown(note), { role: "muted" })], { width, first: line("  ") }),
    );
    const fault =
      this.#fault === ""
        ? []
        : wrapLine([span(withHiddenShown(this.#fault), { role: "bad" })], { width, first: line("  ") });
    const label = withHiddenShown(field?.label ?? "").slice(0, MAX_LABEL);
    const { rows, caret } = editorRows(this.#editor, {
      width,
      maxRows: 4,
      prompt: span(`${label} ${marks.prompt} `, { role: "accent" }),
      placeholder: field === undefined ? "enter says yes" : "",
      marks,
    });
    // Who asks stays, however long the text of a server is.
    const [first = [], ...more] = [...head, ...notes, ...fault];
    const room = Math.max(0, maxRows - rows.length - 2);
    const left = more.length - room + 1;
    const cut = fitLine(line(`  ${marks.more} ${left} more rows, ctrl+o shows them`, { role: "bad" }), width);
    const above = [first, ...(more.length <= room ? more : [cut, ...more.slice(left)].slice(0, room))];
    const place = fields.length < 2 ? [] : [`${at + 1} of ${fields.length}`];
    const back = at === 0 ? [] : ["up goes back"];
    const keys = keysLine([...place, "enter goes on", ...back, "esc refuses"], { marks, width });
    return {
      rows: [...above, ...rows, keys],
      caret: { row: above.length + caret.row, column: caret.column },
    };
  }

  disturb(): void {
    this.#quiet.disturb();
  }

  handle(event: TerminalEvent): void {
    this.#isTaken ||= this.#quiet.isOver;
    if (!this.#isTaken) {
      this.#quiet.disturb();
      if (event.type !== "key" || event.key === "backspace") this.#options.onTyped(event);
      return;
    }
    const key = event.type === "key" ? event.key : "";
    if (key === "escape" || key === "ctrl+c") this.#answer({ choice: "no" });
    else if (key === "ctrl+o") this.#options.onWhole(this.question);
    else if (key === "enter") this.#take();
    else if (key === "up" && this.#form.at > 0) this.#back();
    else this.#editor = editLine(this.#editor, event);
  }

  #take(): void {
    const { at } = this.#form;
    const { text } = this.#editor;
    this.#texts[at] = text;
    const taken = this.#form.take(text);
    this.#fault = taken !== undefined && "fault" in taken ? taken.fault : "";
    if (taken !== undefined && "value" in taken) this.#answer(taken);
    else if (this.#form.at !== at) this.#show();
  }

  #answer(reply: QuestionReply): void {
    this.#options.answer(this.question.id, reply);
  }

  #back(): void {
    this.#texts[this.#form.at] = this.#editor.text;
    this.#form.back();
    this.#fault = "";
    this.#show();
  }

  /** Puts back the text of the field that is due, if it was there before. */
  #show(): void {
    this.#editor = insertText(EMPTY_EDITOR, this.#texts[this.#form.at] ?? "");
  }
}

const MAX_LABEL = 60;
