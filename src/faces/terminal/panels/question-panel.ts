import type { CodingSession } from "../../../coding/session/coding-session.ts";
import type { Question, QuestionReply } from "../../../view/question.ts";
import { questionKind } from "../../../view/question-kind.ts";
import { type Editor, type EditorRows, EMPTY_EDITOR, editorRows } from "../editor/editor.ts";
import { editLine } from "../editor/keymap.ts";
import { span } from "../paint/line.ts";
import type { TerminalEvent } from "../tty/key.ts";
import { type QuestionRows, questionLines, questionOptions, tooSmallLines } from "../views/question-lines.ts";
import type { ViewContext } from "../views/view-context.ts";
import { offeredReply } from "./offered-reply.ts";
import type { Panel, PanelRows } from "./panel.ts";
import { Quiet } from "./quiet.ts";

/** Options of a {@link QuestionPanel}. */
export interface QuestionPanelOptions {
  readonly question: Question;
  readonly answer: CodingSession["answer"];
  readonly onWhole: (question: Question) => void;
  /** Takes what is typed and is no answer: nothing that was on its way is lost. */
  readonly onTyped: (event: TerminalEvent) => void;
  /** Stops the run: the question goes with it. */
  readonly onStop: () => void;
  /** Goes to the next mode, which may decide the question. */
  readonly onMode: () => void;
  readonly more: () => number;
  /** Milliseconds from some moment on. */
  readonly now: () => number;
}

/** One question, with its answers by number or arrow. Nothing is marked before an arrow was pressed. */
export class QuestionPanel implements Panel {
  readonly #options: QuestionPanelOptions;
  #marked: number | undefined;
  readonly #quiet: Quiet;
  #reason: Editor | undefined;
  /** Answers that the window does not show whole; undefined: it has no room for the question. */
  #cut: QuestionRows["cut"] | undefined;

  constructor(options: QuestionPanelOptions) {
    this.#options = options;
    this.#quiet = new Quiet(options.now);
  }

  get question(): Question {
    return this.#options.question;
  }

  draw(context: ViewContext, maxRows: number): PanelRows {
    this.#quiet.begin();
    const { question } = this;
    const typed = this.#reason && this.#reasonRows(this.#reason, context);
    const state = {
      marked: typed === undefined ? this.#marked : undefined,
      maxRows,
      more: this.#options.more(),
      ...(typed === undefined ? {} : { reason: typed.rows }),
    };
    const shown = questionLines(question, state, context);
    this.#cut = shown?.cut;
    if (shown === undefined) return { rows: tooSmallLines(question, context).slice(0, maxRows) };
    const { rows, reasonRow } = shown;
    if (typed === undefined) return { rows };
    return { rows, caret: { row: reasonRow + typed.caret.row, column: typed.caret.column } };
  }

  /** The reason, in the place of the answer that it goes with. */
  #reasonRows(reason: Editor, { width, marks }: ViewContext): EditorRows {
    const number = questionOptions(this.question).length;
    const word = this.#isPlan ? "Change" : "No";
    const prompt = span(`${marks.chosen} ${number}  ${word}: `, { role: "warning" });
    return editorRows(reason, { width, maxRows: 4, prompt, placeholder: "", marks });
  }

  get #isPlan(): boolean {
    return questionKind(this.question) === "plan";
  }

  /** A key came for something else: the quiet begins anew. */
  disturb(): void {
    this.#quiet.disturb();
  }

  handle(event: TerminalEvent): void {
    if (event.type === "reply") return;
    if (this.#reason !== undefined) {
      this.#typeReason(this.#reason, event);
      return;
    }
    const { isOver: isQuiet } = this.#quiet;
    if (isQuiet && event.type === "key" && event.key !== "backspace") this.#key(event.key);
    else if (isQuiet && event.type === "text" && /^[1-9]$/.test(event.text))
      this.#choose(Number(event.text) - 1);
    else if (isQuiet && event.type === "text" && event.text === "v") this.#options.onWhole(this.question);
    else {
      // Somebody writes something else: a digit in it is no answer.
      this.#quiet.disturb();
      if (event.type !== "key" || event.key === "backspace") this.#options.onTyped(event);
    }
  }

  #key(key: string): void {
    const count = questionOptions(this.question).length;
    const at = this.#marked;
    if (key === "shift+tab") this.#options.onMode();
    else if (key === "down" || key === "tab") this.#marked = at === undefined ? 0 : (at + 1) % count;
    else if (key === "up") this.#marked = at === undefined ? count - 1 : (at + count - 1) % count;
    else if (key === "enter" && at !== undefined) this.#choose(at);
    else if (key === "escape" && this.#isPlan) this.#answer({ choice: "stop" });
    else if (key === "escape" || key === "ctrl+c") this.#options.onStop();
  }

  #choose(index: number): void {
    const { question } = this;
    const reply = offeredReply(question, index);
    // A yes covers what was shown.
    if (reply === undefined || this.#cut?.has(index) !== false) return;
    const isRefusal = "choice" in reply && reply.choice === "no";
    if (isRefusal && (question.type === "permission" || this.#isPlan)) this.#reason = EMPTY_EDITOR;
    else this.#answer(reply);
  }

  #typeReason(reason: Editor, event: TerminalEvent): void {
    const key = event.type === "key" ? event.key : "";
    if (key === "escape" || key === "ctrl+c") this.#reason = undefined;
    else if (key === "enter") {
      const text = reason.text.trim();
      // Nobody can change a plan that they were not told how.
      if (text === "" && this.#isPlan) return;
      this.#answer({ choice: "no", ...(text === "" ? {} : { reason: text }) });
    } else this.#reason = editLine(reason, event);
  }

  #answer(reply: QuestionReply): void {
    this.#options.answer(this.question.id, reply);
  }
}
