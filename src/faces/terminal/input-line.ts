import type { SessionView } from "../../view/view.ts";
import { Attachments, cleanPaste, imagesMentioned } from "./editor/attachments.ts";
import { type Completion, type CompletionSources, completionFor } from "./editor/complete-input.ts";
import {
  applyEdit,
  caretLine,
  type EditCommand,
  type Editor,
  type EditorRows,
  EMPTY_EDITOR,
  editorRows,
  insertText,
  replaceRange,
  replaceText,
} from "./editor/editor.ts";
import type { History } from "./editor/history.ts";
import { fitLine, type Line, line, span, textLines } from "./paint/line.ts";
import type { Role } from "./paint/theme.ts";
import { listLines } from "./views/list-lines.ts";
import type { ViewContext } from "./views/view-context.ts";

/** Options of an {@link InputLine}. */
export interface InputLineOptions {
  readonly cwd: string;
  readonly history: History;
  readonly sources: CompletionSources;
}

/** How the input looks: the colour of its mark says the permission mode. */
export interface InputLook {
  readonly role: Role;
  readonly placeholder: string;
  readonly maxRows: number;
}

const POPUP_ROWS = 8;
/** With so few rows a question takes all of them. */
const DRAFT_FROM = 12;

/** The text a person writes, what is offered for it, what was typed before, what its marks stand for. */
export class InputLine {
  readonly #options: InputLineOptions;
  #editor: Editor = EMPTY_EDITOR;
  #attachments = new Attachments();
  #completion: Completion | undefined;
  #marked = 0;
  /** A text for which nothing is to be offered: it was put away with Escape, or accepted. */
  #quietFor: string | undefined;
  /** Place in the history, counted from its end; what was being written when it was entered. */
  #past: { readonly texts: readonly string[]; readonly at: number; readonly draft: string } | undefined;

  constructor(options: InputLineOptions) {
    this.#options = options;
  }

  get text(): string {
    return this.#editor.text;
  }

  get isEmpty(): boolean {
    return this.#editor.text === "";
  }

  get hasPopup(): boolean {
    return this.#completion !== undefined;
  }

  type(text: string): void {
    this.#editor = insertText(this.#editor, cleanPaste(text));
  }

  paste(text: string): void {
    this.#editor = insertText(this.#editor, this.#attachments.paste(text, this.#options.cwd));
  }

  addImage(image: Parameters<Attachments["addImage"]>[0]): void {
    this.#editor = insertText(this.#editor, `${this.#attachments.addImage(image)} `);
  }

  /** Replaces what is written; undo brings it back. `images`: those that the text's marks stand for. */
  replace(text: string, images: Parameters<Attachments["takeBack"]>[1] = []): void {
    this.#past = undefined;
    this.#attachments.takeBack(text, images);
    this.#editor = replaceText(this.#editor, text);
  }

  /** Does what an editing key says. Up at the first line and down at the last go through the history. */
  edit(command: EditCommand): void {
    if ((command === "up" || command === "down") && this.#completion !== undefined) {
      const count = this.#completion.items.length;
      this.#marked = (this.#marked + (command === "up" ? count - 1 : 1)) % count;
      return;
    }
    if (command === "up" || command === "down") {
      const { line, lines } = caretLine(this.#editor);
      const isEdge = command === "up" ? line === 0 : line === lines - 1;
      if (isEdge) {
        this.#travel(command === "up" ? 1 : -1);
        return;
      }
    }
    const next = applyEdit(this.#editor, command);
    if (next.text !== this.#editor.text) this.#past = undefined;
    this.#editor = next;
  }

  /** A backslash before Enter makes a new line. */
  takeBackslash(): boolean {
    const { text, caret } = this.#editor;
    if (text[caret - 1] !== "\\") return false;
    this.#editor = replaceRange(this.#editor, { from: caret - 1, to: caret }, "\n");
    return true;
  }

  /** Puts what is offered away; false when nothing was. */
  dismiss(): boolean {
    if (this.#completion === undefined) return false;
    this.#completion = undefined;
    this.#quietFor = this.#editor.text;
    return true;
  }

  /** Takes what is marked in what is offered. Returns its kind; undefined when nothing is offered. */
  accept(): "command" | "file" | undefined {
    const completion = this.#completion;
    const item = completion?.items[this.#marked];
    if (completion === undefined || item === undefined) return undefined;
    const isCommand = item.text.startsWith("/");
    this.#editor = replaceRange(this.#editor, completion, item.text);
    if (!item.text.endsWith("/")) this.#quietFor = this.#editor.text;
    this.#completion = undefined;
    return isCommand ? "command" : "file";
  }

  /** Looks what can be offered for what is written now. */
  refresh(): void {
    if (this.#quietFor === this.#editor.text || this.#past !== undefined) {
      this.#completion = undefined;
      return;
    }
    this.#quietFor = undefined;
    const before = this.#completion?.items[this.#marked]?.label;
    this.#completion = completionFor(this.#editor, this.#options.sources);
    const again = this.#completion?.items.findIndex(({ label }) => label === before) ?? -1;
    this.#marked = again < 0 || before === undefined ? 0 : Math.min(again, this.#marked);
  }

  /** The whole text, with its pastes. */
  get whole(): string {
    return this.#attachments.expand(this.#editor.text);
  }

  get images(): ReturnType<Attachments["imagesIn"]> {
    const { text } = this.#editor;
    return [...this.#attachments.imagesIn(text), ...imagesMentioned(text, this.#options.cwd)];
  }

  past(): readonly string[] {
    return this.#options.history.all();
  }

  /** Empties the line; it is kept in the history. */
  clear(): void {
    this.#options.history.add(this.whole);
    this.#past = undefined;
    this.#attachments = new Attachments();
    this.#completion = undefined;
    this.#editor = { ...EMPTY_EDITOR, killed: this.#editor.killed };
  }

  draw(context: ViewContext, { role, placeholder, maxRows }: InputLook): EditorRows {
    const { width, marks } = context;
    return editorRows(this.#editor, {
      width,
      maxRows,
      prompt: span(`${marks.prompt} `, { role, bold: true }),
      placeholder,
      marks,
    });
  }

  /** The end of what is written, for below a question that stands in its place. */
  draft({ width, marks }: ViewContext, maxRows: number): readonly Line[] {
    const last = textLines(this.#editor.text.trimEnd()).at(-1) ?? "";
    const isShown = last !== "" && maxRows > DRAFT_FROM;
    return isShown ? [fitLine(line(`${marks.prompt} ${last}`, { role: "muted" }), width)] : [];
  }

  popup({ width, marks }: ViewContext, maxRows: number): readonly Line[] {
    if (this.#completion === undefined || maxRows < 2) return [];
    return listLines(this.#completion.items, {
      marked: this.#marked,
      maxRows: Math.min(POPUP_ROWS, maxRows),
      width,
      marks,
    });
  }

  #travel(by: 1 | -1): void {
    const past = this.#past ?? { texts: this.#options.history.all(), at: 0, draft: this.#editor.text };
    const at = Math.max(0, Math.min(past.texts.length, past.at + by));
    if (at === past.at) return;
    const text = at === 0 ? past.draft : (past.texts[past.texts.length - at] ?? "");
    this.#editor = replaceText(this.#editor, text);
    this.#past = at === 0 ? undefined : { ...past, at };
  }
}

/** Colour of the input's mark: a mode that is out of the ordinary shows. */
export function roleOf(view: SessionView | undefined): Role {
  return view?.mode === "plan" ? "plan" : view?.mode === "bypassPermissions" ? "bad" : "accent";
}

/** The text of an empty input. */
export function placeholderOf(
  view: SessionView | undefined,
  { marks, width }: Pick<ViewContext, "marks" | "width">,
): string {
  if (view === undefined) return "";
  const isRunning = view.run !== undefined;
  if (canContinue(view)) return "enter continues, or say what to do instead".slice(0, Math.max(0, width - 3));
  if (!isRunning && view.items.some(({ type }) => type !== "notice")) return "";
  const parts = isRunning
    ? ["enter steers", "alt+enter queues", ...(view.queue.length > 0 ? ["alt+up edits the queue"] : [])]
    : ["What should nano-agent do?   / commands", "@ files", "? keys"];
  const text = parts.join(` ${marks.dot} `);
  return text.length < width - 2 ? text : (parts[0]?.replace(/ {3}.*/, "") ?? "");
}

/** True when the newest run ended before it was done, so that Enter alone goes on with it. */
export function canContinue({ run, queue, state, items }: SessionView): boolean {
  const last = items.findLast(({ type }) => type !== "notice");
  if (run !== undefined || state !== "idle" || queue.length > 0 || last?.type !== "run_end") return false;
  return UNFINISHED.has(last.stopReason);
}

const UNFINISHED: ReadonlySet<string> = new Set(["aborted", "error", "max_iterations", "output_limit"]);
