import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { textOf, type UserBlock } from "../../../core/message/message.ts";
import { readSession } from "../../../session/read-session.ts";
import type { SessionStore } from "../../../session/session-store.ts";
import { imageTypeOf } from "../../../tools/files/file-text.ts";
import type { SessionView } from "../../../view/view.ts";
import { fitLine, type Line, line, span, textLines, type ViewContext } from "../paint/line.ts";
import type { Role } from "../paint/theme.ts";
import { listLines } from "../views/list-lines.ts";
import { type Completion, type CompletionSources, completionFor } from "./complete-input.ts";
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
} from "./editor.ts";

export interface InputLineOptions {
  readonly cwd: string;
  readonly history: History;
  readonly sources: CompletionSources;
}

const POPUP_ROWS = 8;
/** With fewer rows a question takes all of them. */
const DRAFT_FROM = 12;

/** The person's input with its completion, history and attachments. */
export class InputLine {
  readonly #options: InputLineOptions;
  #editor: Editor = EMPTY_EDITOR;
  #attachments = new Attachments();
  #completion: Completion | undefined;
  #marked = 0;
  /** Text that gets no completion: it was dismissed with Escape, or accepted. */
  #quietFor: string | undefined;
  /** Position in the history, counted from its end, and the draft when the history was entered. */
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

  /** Replaces the input; undo restores it. `images`: those the text's marks stand for. */
  replace(text: string, images: Parameters<Attachments["takeBack"]>[1] = []): void {
    this.#past = undefined;
    this.#attachments.takeBack(text, images);
    this.#editor = replaceText(this.#editor, text);
  }

  /** Carries out an editing key. Up on the first line and Down on the last go through the history. */
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

  /** A backslash before Enter makes a line break. */
  takeBackslash(): boolean {
    const { text, caret } = this.#editor;
    if (text[caret - 1] !== "\\") return false;
    this.#editor = replaceRange(this.#editor, { from: caret - 1, to: caret }, "\n");
    return true;
  }

  /** Dismisses the completion; false if there was none. */
  dismiss(): boolean {
    if (this.#completion === undefined) return false;
    this.#completion = undefined;
    this.#quietFor = this.#editor.text;
    return true;
  }

  /** Accepts the marked completion. Returns its kind, or undefined if nothing is offered. */
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

  /** Looks for completions of the current input. */
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

  /** Empties the line and keeps it in the history. */
  clear(): void {
    this.#options.history.add(this.whole);
    this.#past = undefined;
    this.#attachments = new Attachments();
    this.#completion = undefined;
    this.#editor = { ...EMPTY_EDITOR, killed: this.#editor.killed };
  }

  draw(
    context: ViewContext,
    {
      role,
      placeholder,
      maxRows,
    }: { readonly role: Role; readonly placeholder: string; readonly maxRows: number },
  ): EditorRows {
    const { width, marks } = context;
    return editorRows(this.#editor, {
      width,
      maxRows,
      prompt: span(`${marks.prompt} `, { role, bold: true }),
      placeholder,
      marks,
    });
  }

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

export function roleOf(view: SessionView | undefined): Role {
  return view?.mode === "plan" ? "plan" : view?.mode === "bypassPermissions" ? "bad" : "accent";
}

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

/** True if the newest run ended early, so that Enter alone continues it. */
export function canContinue({ run, queue, state, items }: SessionView): boolean {
  const last = items.findLast(({ type }) => type !== "notice");
  if (run !== undefined || state !== "idle" || queue.length > 0 || last?.type !== "run_end") return false;
  return UNFINISHED.has(last.stopReason);
}

const UNFINISHED: ReadonlySet<string> = new Set(["aborted", "error", "max_iterations", "output_limit"]);

/** A paste with more lines or characters appears in the input as a mark. */
const MAX_LINES = 8;
const MAX_CHARS = 1_200;
const MAX_IMAGE_BYTES = 10_000_000;

type ImageBlock = Extract<UserBlock, { type: "image" }>;

/** The contents behind the marks of an input: long pastes and images. */
export class Attachments {
  readonly #pastes = new Map<string, string>();
  readonly #images = new Map<string, ImageBlock>();

  /** The text a paste adds to the input: itself, or a mark if it is long or the path of an image. */
  paste(text: string, cwd: string): string {
    const clean = cleanPaste(text);
    const image = imageAt(clean.trim(), cwd);
    if (image !== undefined) return this.addImage(image);
    const lines = clean.split("\n").length;
    if (lines <= MAX_LINES && clean.length <= MAX_CHARS) return clean;
    const mark = this.#freshMark(lines > 1 ? `pasted ${lines} lines` : `pasted ${clean.length} characters`);
    this.#pastes.set(mark, clean);
    return mark;
  }

  addImage(image: ImageBlock): string {
    const mark = this.#freshMark("image");
    this.#images.set(mark, image);
    return mark;
  }

  /** Registers again the images of a text taken back into the input. */
  takeBack(text: string, images: readonly ImageBlock[]): void {
    if (images.length === 0) return;
    const marks = [...text.matchAll(/\[image(?: #(\d+))?\]/g)];
    const inOrder = marks.toSorted(([, a = "1"], [, b = "1"]) => Number(a) - Number(b));
    for (const [index, image] of images.entries()) this.#images.set(inOrder[index]?.[0] ?? "[image]", image);
  }

  expand(text: string): string {
    let whole = text;
    for (const [mark, paste] of this.#pastes) whole = whole.replace(mark, () => paste);
    return whole;
  }

  imagesIn(text: string): readonly ImageBlock[] {
    return [...this.#images].filter(([mark]) => text.includes(mark)).map(([, image]) => image);
  }

  #freshMark(what: string): string {
    for (let number = 1; ; number++) {
      const mark = number === 1 ? `[${what}]` : `[${what} #${number}]`;
      if (!this.#pastes.has(mark) && !this.#images.has(mark)) return mark;
    }
  }
}

/** A paste without escapes, control characters and characters that reverse text. */
export function cleanPaste(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/\u001B(?:\[[0-9;:<=>?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|.)?/gsu, "")
    .toWellFormed()
    .replaceAll(/(?![\n\t\u200C\u200D])[\p{Cc}\p{Cf}]/gu, "");
}

/** The image file that text is the path of, as when a file is dropped on a terminal. */
function imageAt(text: string, cwd: string): ImageBlock | undefined {
  if (text.includes("\n") || text.length > 4_096 || !/\.(?:png|jpe?g|gif|webp)["']?$/i.test(text))
    return undefined;
  const plain = text.replace(/^(["'])(.*)\1$/, "$2");
  const path = plain.startsWith("file://")
    ? pathOfUrl(plain)
    : plain.replaceAll(/\\(.)/g, "$1").replace(/^~(?=\/)/, homedir());
  if (path === undefined) return undefined;
  const full = isAbsolute(path) ? path : resolve(cwd, path);
  try {
    const stats = statSync(full);
    if (!stats.isFile() || stats.size > MAX_IMAGE_BYTES) return undefined;
    return imageBlock(readFileSync(full));
  } catch {
    // No such file: it was ordinary text.
    return undefined;
  }
}

function imagesMentioned(text: string, cwd: string): readonly ImageBlock[] {
  const paths = [...text.matchAll(/(?:^|\s)@("[^"\n]+"|\S+)/g)].map(([, path = ""]) => path);
  return [...new Set(paths)].flatMap((path) => imageAt(path, cwd) ?? []);
}

export function imageBlock(bytes: Uint8Array): ImageBlock | undefined {
  const media = imageTypeOf(bytes);
  if (media === undefined) return undefined;
  return {
    type: "image",
    source: { type: "base64", media_type: media, data: Buffer.from(bytes).toString("base64") },
  };
}

function pathOfUrl(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

const MAX_SESSIONS = 30;
const MAX_MESSAGES = 1_000;
const MAX_BYTES = 8_000_000;

/** Earlier inputs, newest last: of this session, and earlier ones of this folder, read on first use. */
export class History {
  readonly #load: () => readonly string[];
  readonly #own: string[] = [];
  #earlier: readonly string[] | undefined;

  constructor(load: () => readonly string[]) {
    this.#load = load;
  }

  add(text: string): void {
    if (text.trim() !== "" && this.#own.at(-1) !== text) this.#own.push(text);
  }

  all(): readonly string[] {
    this.#earlier ??= this.#load();
    return [...new Set([...this.#earlier, ...this.#own].toReversed())].reverse();
  }
}

/** The inputs of a folder's newest sessions, newest last. Skips unreadable sessions. */
export function typedBefore(store: SessionStore, cwd: string): readonly string[] {
  const texts: string[][] = [];
  let bytes = 0;
  let count = 0;
  for (const { path, bytes: size } of store.list(cwd).slice(0, MAX_SESSIONS)) {
    bytes += size;
    if (bytes > MAX_BYTES || count >= MAX_MESSAGES) break;
    const typed = typedIn(path);
    count += typed.length;
    texts.unshift([...typed]);
  }
  return texts.flat();
}

function typedIn(path: string): readonly string[] {
  try {
    return readSession(path).entries.flatMap((entry) => {
      if (entry.type !== "user_message" || (entry.source ?? "input") !== "input") return [];
      const text = textOf(entry.message.content, "\n").trim();
      return text === "" ? [] : [text];
    });
  } catch {
    return [];
  }
}
