import type { CodingSession } from "../../../coding/session/coding-session.ts";
import type { Json } from "../../../core/base/errors.ts";
import { revealInvisible } from "../../../core/base/hidden-characters.ts";
import type { Question, QuestionReply } from "../../../view/question.ts";
import { questionKind } from "../../../view/question-kind.ts";
import { fieldHint, type ValueField, ValueForm } from "../../../view/value-form.ts";
import { type Editor, type EditorRows, EMPTY_EDITOR, editorRows, insertText } from "../editor/editor.ts";
import { editLine } from "../editor/keymap.ts";
import { cutRows, fitLine, type Line, line, span, type ViewContext, wrapLine } from "../paint/line.ts";
import type { Role } from "../paint/theme.ts";
import type { TerminalEvent } from "../tty/key.ts";
import { keysLine } from "../views/list-lines.ts";
import {
  answerRows,
  offeredReply,
  type QuestionRows,
  questionLines,
  questionOptions,
  titleRule,
  tooSmallLines,
} from "../views/question-lines.ts";
import { type Panel, type PanelRows, TypeAheadGuard } from "./panel.ts";

/** The screen on which a question is asked. */
export interface QuestionHost {
  readonly session: Pick<CodingSession, "answer" | "questions">;
  readonly act: (action: "details" | "escape" | "mode") => void;
  /** Takes typed input that is not an answer, so nothing is lost. */
  readonly type: (event: TerminalEvent) => void;
  /** Milliseconds since an arbitrary moment. */
  readonly elapsed: () => number;
}

export abstract class QuestionPanel implements Panel {
  readonly question: Question;
  protected readonly host: QuestionHost;
  protected readonly quiet: TypeAheadGuard;

  constructor(question: Question, host: QuestionHost) {
    this.question = question;
    this.host = host;
    this.quiet = new TypeAheadGuard(host.elapsed);
  }

  abstract draw(context: ViewContext, maxRows: number): PanelRows;
  abstract handle(event: TerminalEvent): void;

  restartGuard(): void {
    this.quiet.restart();
  }

  protected answer(reply: QuestionReply): void {
    this.host.session.answer(this.question.id, reply);
  }

  /** Not an answer: the person is writing something else. */
  protected passOn(event: TerminalEvent): void {
    this.quiet.restart();
    if (event.type !== "key" || event.key === "backspace") this.host.type(event);
  }
}

/** One question, answered by number or arrow. Nothing is marked before an arrow is pressed. */
class ChoicePanel extends QuestionPanel {
  #marked: number | undefined;
  #reason: Editor | undefined;
  /** Answers the window does not show in full; undefined: it has no room for the question. */
  #cut: QuestionRows["cut"] | undefined;

  draw(context: ViewContext, maxRows: number): PanelRows {
    this.quiet.start();
    const { question } = this;
    const typed = this.#reason && this.#reasonRows(this.#reason, context);
    const state = {
      marked: typed === undefined ? this.#marked : undefined,
      maxRows,
      more: Math.max(0, this.host.session.questions.length - 1),
      ...(typed === undefined ? {} : { reason: typed.rows }),
    };
    const shown = questionLines(question, state, context);
    this.#cut = shown?.cut;
    if (shown === undefined) return { rows: tooSmallLines(question, context).slice(0, maxRows) };
    const { rows, reasonRow } = shown;
    if (typed === undefined) return { rows };
    return { rows, caret: { row: reasonRow + typed.caret.row, column: typed.caret.column } };
  }

  /** The reason, in place of the answer it belongs to. */
  #reasonRows(reason: Editor, { width, marks }: ViewContext): EditorRows {
    const number = questionOptions(this.question).length;
    const word = this.#isPlan ? "Change" : "No";
    const prompt = span(`${marks.chosen} ${number}  ${word}: `, { role: "warning" });
    return editorRows(reason, { width, maxRows: 4, prompt, placeholder: "", marks });
  }

  get #isPlan(): boolean {
    return questionKind(this.question) === "plan";
  }

  handle(event: TerminalEvent): void {
    if (event.type === "reply") return;
    if (this.#reason !== undefined) {
      this.#typeReason(this.#reason, event);
      return;
    }
    const { isOver: isQuiet } = this.quiet;
    if (isQuiet && event.type === "key" && event.key !== "backspace") this.#key(event.key);
    else if (isQuiet && event.type === "text" && /^[1-9]$/.test(event.text))
      this.#choose(Number(event.text) - 1);
    else if (isQuiet && event.type === "text" && event.text === "v") this.host.act("details");
    else this.passOn(event);
  }

  #key(key: string): void {
    const count = questionOptions(this.question).length;
    const at = this.#marked;
    if (key === "shift+tab") this.host.act("mode");
    else if (isArrow(key)) this.#marked = nextRow(at, key, count);
    else if (key === "enter" && at !== undefined) this.#choose(at);
    else if (key === "escape" && this.#isPlan) this.answer({ choice: "stop" });
    else if (key === "escape" || key === "ctrl+c") this.host.act("escape");
  }

  #choose(index: number): void {
    const { question } = this;
    const reply = offeredReply(question, index);
    // A yes covers what was shown.
    if (reply === undefined || this.#cut?.has(index) !== false) return;
    const isRefusal = "choice" in reply && reply.choice === "no";
    if (isRefusal && (question.type === "permission" || this.#isPlan)) this.#reason = EMPTY_EDITOR;
    else this.answer(reply);
  }

  #typeReason(reason: Editor, event: TerminalEvent): void {
    const key = event.type === "key" ? event.key : "";
    if (key === "escape" || key === "ctrl+c") this.#reason = undefined;
    else if (key === "enter") {
      const text = reason.text.trim();
      // Changing a plan requires being told how.
      if (text === "" && this.#isPlan) return;
      this.answer({ choice: "no", ...(text === "" ? {} : { reason: text }) });
    } else this.#reason = editLine(reason, event);
  }
}

/**
 * Asks for a value that fits a schema, field by field. A field's options are chosen by number or arrow;
 * everything else is typed. Escape declines.
 */
export class ValuePanel extends QuestionPanel {
  /** True once a key was meant for the question: from then on all are. */
  #isTaken = false;
  readonly #form: ValueForm;
  /** The text typed for each field. */
  readonly #texts: string[] = [];
  /** `undefined`: nothing is typed, because the field offers options. */
  #editor: Editor | undefined;
  #marked: number | undefined;
  #chosen: ReadonlySet<number> = new Set();
  #fault = "";

  constructor(question: Question, host: QuestionHost) {
    super(question, host);
    this.#form = new ValueForm(this.question.schema ?? {});
    this.#show();
  }

  draw(context: ViewContext, maxRows: number): PanelRows {
    this.quiet.start();
    const { width } = context;
    const { field, at, fields } = this.#form;
    const { reason } = this.question;
    const isAsked = reason === "";
    const title = span(revealInvisible(isAsked ? (field?.label ?? "") : reason), {
      role: "warning",
      bold: true,
    });
    const right = fields.length < 2 ? {} : { right: `${at + 1} of ${fields.length}` };
    const head = titleRule({ title: [title], role: "warning", ...right }, context);
    const isOffered = isOffering(field);
    const notes = this.#notes(width, isOffered && !isAsked);
    const { rows: writing, caret } = this.#written(context, isAsked);
    // Typed words replace the offer to type them.
    const isWriting = this.#editor !== undefined;
    const shown = field && { ...field, isOpen: field.isOpen && !isWriting };
    const offer = shown === undefined ? [] : this.#offerRows(shown, context);
    const least = head.length + notes.length + writing.length + 1;
    const gap: readonly Line[] = isOffered && least + offer.length + 2 <= maxRows ? [[]] : [];
    const offered = least + offer.length <= maxRows ? offer : offer.filter(({ isNote }) => !isNote);
    const keys = keysLine(this.#keys(width), context);
    const last = [...gap, ...offered.map(({ row }) => row), ...writing, ...gap, keys];
    // Who asks stays visible, however long a server's text is.
    const room = Math.max(0, maxRows - last.length - 1);
    const above = cutRows([...head, ...notes], room + 1, room - 1, (count) =>
      fitLine(line(`  ${context.marks.more} ${count} more rows, ctrl+o shows them`, { role: "bad" }), width),
    );
    const rows = [...above.slice(0, room + 1), ...last];
    if (caret === undefined) return { rows };
    const row = rows.length - 1 - gap.length - writing.length + caret.row;
    return { rows, caret: { row, column: caret.column } };
  }

  #offerRows({ kind, options, isOpen }: ValueField, context: ViewContext): readonly OfferRow[] {
    const rest = line("     ");
    const offers = [...options, ...(isOpen ? [{ label: OWN_WORDS, note: undefined }] : [])];
    return offers.flatMap(({ label, note = "" }, index) => {
      const box =
        kind !== "several" || index >= options.length ? "" : this.#chosen.has(index) ? "[x] " : "[ ] ";
      const rows = answerRows(box + label, index, { isMarked: this.#marked === index }, context);
      const muted = line(revealInvisible(note), { role: "muted" });
      const notes = note === "" ? [] : wrapLine(muted, { width: context.width, first: rest, rest });
      return [...rows.map((row) => ({ row, isNote: false })), ...notes.map((row) => ({ row, isNote: true }))];
    });
  }

  #notes(width: number, isNamed: boolean): readonly Line[] {
    const { field } = this.#form;
    const text = (note: string | undefined, role: Role): readonly Line[] =>
      note === undefined || note === ""
        ? []
        : wrapLine([span(revealInvisible(note), { role })], { width, first: line("  "), rest: line("  ") });
    const hint = field === undefined ? undefined : fieldHint(field, isOffering(field));
    return [
      ...text(isNamed ? field?.label : undefined, "accent"),
      ...text(field?.note, "muted"),
      ...text(hint, "muted"),
      ...text(this.#fault, "bad"),
    ];
  }

  /** The words typed into the field; their row replaces the offer to type. */
  #written({ width, marks }: ViewContext, isAsked: boolean): Partial<EditorRows> & Pick<EditorRows, "rows"> {
    const { field } = this.#form;
    if (this.#editor === undefined) return { rows: [] };
    const label = isAsked ? "" : `${revealInvisible(field?.label ?? "").slice(0, MAX_LABEL)} `;
    const prompt =
      field?.isOpen === true
        ? span(`${marks.chosen} ${field.options.length + 1}  `, { role: "warning" })
        : span(`${isOffering(field) ? "" : label}${marks.prompt} `, { role: "accent" });
    return editorRows(this.#editor, {
      width,
      maxRows: 4,
      prompt,
      placeholder: field === undefined ? "enter says yes" : "",
      marks,
    });
  }

  #keys(width: number): readonly string[] {
    const { field, at } = this.#form;
    const leaves = this.question.reason === "" ? "esc no answer" : "esc refuses";
    if (field === undefined || !isOffering(field))
      return ["enter continues", ...(at === 0 ? [] : ["up goes back"]), leaves];
    if (this.#editor !== undefined) return ["enter sends it", "esc back"];
    const back = at === 0 ? [] : ["left goes back"];
    const choose = field.kind === "several" ? ["space marks", "enter sends"] : ["\u2191\u2193 enter choose"];
    const keys = [...choose, ...back, leaves];
    const count = field.options.length + (field.isOpen ? 1 : 0);
    return keys.join(" . ").length + 2 <= width ? keys : [`1-${count}`, leaves];
  }

  handle(event: TerminalEvent): void {
    if (event.type === "reply") return;
    this.#isTaken ||= this.quiet.isOver;
    if (!this.#isTaken) return this.passOn(event);
    const key = event.type === "key" ? event.key : event.type === "text" ? event.text : "";
    const { field } = this.#form;
    if (key === "ctrl+c") this.host.act("escape");
    else if (key === "ctrl+o") this.host.act("details");
    else if (this.#editor === undefined && field !== undefined) this.#choose(field, key, event);
    else this.#write(key, event);
  }

  #write(key: string, event: TerminalEvent): void {
    const isListed = isOffering(this.#form.field);
    if (key === "escape" && isListed) this.#list();
    else if (key === "escape") this.answer(this.#form.leave(this.question));
    else if (key === "enter") this.#take();
    else if (key === "up" && this.#form.at > 0 && !isListed) this.#back();
    else this.#editor = editLine(this.#editor ?? EMPTY_EDITOR, event);
  }

  #list(): void {
    this.#editor = undefined;
    this.#fault = "";
  }

  /** Handles a key for a field with options. Text that is not a number starts the person's own words. */
  #choose(field: ValueField, key: string, event: TerminalEvent): void {
    const { options, isOpen, kind } = field;
    const count = options.length + (isOpen ? 1 : 0);
    if (key === "escape") this.answer(this.#form.leave(this.question));
    else if (isArrow(key)) this.#marked = nextRow(this.#marked, key, count);
    else if (key === "left" && this.#form.at > 0) this.#back();
    else if (/^[1-9]$/.test(key) && Number(key) <= count) this.#pick(field, Number(key) - 1);
    else if (key === " " && kind === "several") this.#pick(field, this.#marked ?? 0);
    else if (key === "enter") this.#enter(field);
    else if (event.type === "text" || event.type === "paste") this.#editor = editLine(EMPTY_EDITOR, event);
  }

  #pick({ kind, options }: ValueField, index: number): void {
    const option = options[index];
    if (option === undefined) {
      if (index === options.length) this.#editor = EMPTY_EDITOR;
    } else if (kind === "one") this.#given(this.#form.give(option.value));
    else {
      this.#marked = index;
      this.#chosen = toggled(this.#chosen, index);
    }
  }

  #enter(field: ValueField): void {
    const at = this.#marked;
    const isSending = field.kind === "several" && this.#chosen.size > 0 && at !== field.options.length;
    if (isSending) this.#given(this.#form.give(this.#chosenValues(field)));
    else if (at !== undefined) this.#pick(field, at);
    // Nothing is chosen: if the model asks, that is no answer yet.
    else if (!field.isOpen) this.#take();
  }

  #chosenValues({ options }: ValueField): readonly Json[] {
    return options.flatMap(({ value }, index) => (this.#chosen.has(index) ? [value] : []));
  }

  #take(): void {
    const { field } = this.#form;
    const { text } = this.#editor ?? EMPTY_EDITOR;
    if (field?.isOpen === true && text.trim() === "") return;
    this.#texts[this.#form.at] = text;
    const isAdded = field?.isOpen === true && field.kind === "several" && this.#chosen.size > 0;
    this.#given(
      isAdded ? this.#form.give([...this.#chosenValues(field), text.trim()]) : this.#form.take(text),
    );
  }

  #given(taken: ReturnType<ValueForm["take"]>): void {
    this.#fault = taken !== undefined && "fault" in taken ? taken.fault : "";
    if (taken !== undefined && "value" in taken) this.answer(taken);
    else if (this.#fault === "") this.#show();
  }

  #back(): void {
    this.#texts[this.#form.at] = this.#editor?.text ?? "";
    this.#form.back();
    this.#fault = "";
    this.#show();
  }

  #show(): void {
    const { field, at } = this.#form;
    const text = this.#texts[at] ?? "";
    this.#marked = undefined;
    this.#chosen = new Set();
    this.#editor = isOffering(field) && text === "" ? undefined : insertText(EMPTY_EDITOR, text);
  }
}

function isArrow(key: string): boolean {
  return key === "up" || key === "down" || key === "tab";
}

function nextRow(at: number | undefined, key: string, count: number): number {
  return key === "up" ? ((at ?? count) + count - 1) % count : ((at ?? -1) + 1) % count;
}

const MAX_LABEL = 60;

function isOffering(field: ValueField | undefined): boolean {
  return field !== undefined && field.options.length > 0;
}

function toggled(chosen: ReadonlySet<number>, index: number): ReadonlySet<number> {
  const next = new Set(chosen);
  if (!next.delete(index)) next.add(index);
  return next;
}

interface OfferRow {
  readonly row: Line;
  /** A note on an option, dropped first if rows are scarce. */
  readonly isNote: boolean;
}

const OWN_WORDS = "Something else: write it";

export function panelForQuestion(question: Question, host: QuestionHost): QuestionPanel {
  return question.type === "elicitation" ? new ValuePanel(question, host) : new ChoicePanel(question, host);
}
