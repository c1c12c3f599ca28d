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
const MIN_DRAFT_ROWS = 12;

export class InputLine {
  readonly #options: InputLineOptions;
  #editor: Editor = EMPTY_EDITOR;
  #attachments = new Attachments();
  #completion: Completion | undefined;
  #selected = 0;
  /** Text without completion: dismissed with Escape, or accepted. */
  #dismissedText: string | undefined;
  /** Position in the history, counted from its end, and the draft when the history was entered. */
  #historyPosition:
    | { readonly texts: readonly string[]; readonly at: number; readonly draft: string }
    | undefined;

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

  /** Undo restores the old text. `images`: those behind the text's markers. */
  replace(text: string, images: Parameters<Attachments["restoreImages"]>[1] = []): void {
    this.#historyPosition = undefined;
    this.#attachments.restoreImages(text, images);
    this.#editor = replaceText(this.#editor, text);
  }

  /** Up on the first line and Down on the last browse the history. */
  edit(command: EditCommand): void {
    if ((command === "up" || command === "down") && this.#completion !== undefined) {
      const count = this.#completion.items.length;
      this.#selected = (this.#selected + (command === "up" ? count - 1 : 1)) % count;
      return;
    }
    if (command === "up" || command === "down") {
      const { line, lines } = caretLine(this.#editor);
      const isAtEdge = command === "up" ? line === 0 : line === lines - 1;
      if (isAtEdge) {
        this.#browseHistory(command === "up" ? 1 : -1);
        return;
      }
    }
    const next = applyEdit(this.#editor, command);
    if (next.text !== this.#editor.text) this.#historyPosition = undefined;
    this.#editor = next;
  }

  /** A backslash before Enter makes a line break. */
  replaceBackslash(): boolean {
    const { text, caret } = this.#editor;
    if (text[caret - 1] !== "\\") return false;
    this.#editor = replaceRange(this.#editor, { from: caret - 1, to: caret }, "\n");
    return true;
  }

  /** False if there was no completion. */
  dismiss(): boolean {
    if (this.#completion === undefined) return false;
    this.#completion = undefined;
    this.#dismissedText = this.#editor.text;
    return true;
  }

  /** Accepts the marked completion. Returns its kind, or undefined if nothing is offered. */
  accept(): "command" | "file" | undefined {
    const completion = this.#completion;
    const item = completion?.items[this.#selected];
    if (completion === undefined || item === undefined) return undefined;
    const isCommand = item.text.startsWith("/");
    this.#editor = replaceRange(this.#editor, completion, item.text);
    if (!item.text.endsWith("/")) this.#dismissedText = this.#editor.text;
    this.#completion = undefined;
    return isCommand ? "command" : "file";
  }

  refresh(): void {
    if (this.#dismissedText === this.#editor.text || this.#historyPosition !== undefined) {
      this.#completion = undefined;
      return;
    }
    this.#dismissedText = undefined;
    const before = this.#completion?.items[this.#selected]?.label;
    this.#completion = completionFor(this.#editor, this.#options.sources);
    const again = this.#completion?.items.findIndex(({ label }) => label === before) ?? -1;
    this.#selected = again < 0 || before === undefined ? 0 : Math.min(again, this.#selected);
  }

  get expandedText(): string {
    return this.#attachments.expand(this.#editor.text);
  }

  get images(): ReturnType<Attachments["imagesIn"]> {
    const { text } = this.#editor;
    return [...this.#attachments.imagesIn(text), ...imagesMentioned(text, this.#options.cwd)];
  }

  earlierTexts(): readonly string[] {
    return this.#options.history.all();
  }

  /** Empties the line and keeps it in the history. */
  clear(): void {
    this.#options.history.add(this.expandedText);
    this.#historyPosition = undefined;
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
    const isShown = last !== "" && maxRows > MIN_DRAFT_ROWS;
    return isShown ? [fitLine(line(`${marks.prompt} ${last}`, { role: "muted" }), width)] : [];
  }

  popup({ width, marks }: ViewContext, maxRows: number): readonly Line[] {
    if (this.#completion === undefined || maxRows < 2) return [];
    return listLines(this.#completion.items, {
      selected: this.#selected,
      maxRows: Math.min(POPUP_ROWS, maxRows),
      width,
      marks,
    });
  }

  #browseHistory(by: 1 | -1): void {
    const past = this.#historyPosition ?? {
      texts: this.#options.history.all(),
      at: 0,
      draft: this.#editor.text,
    };
    const at = Math.max(0, Math.min(past.texts.length, past.at + by));
    if (at === past.at) return;
    const text = at === 0 ? past.draft : (past.texts[past.texts.length - at] ?? "");
    this.#editor = replaceText(this.#editor, text);
    this.#historyPosition = at === 0 ? undefined : { ...past, at };
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

/** A longer paste appears in the input as a marker. */
const MAX_INLINE_LINES = 8;
const MAX_INLINE_CHARS = 1_200;
const MAX_IMAGE_BYTES = 10_000_000;

type ImageBlock = Extract<UserBlock, { type: "image" }>;

/** The contents behind an input's markers: long pastes and images. */
export class Attachments {
  readonly #pastes = new Map<string, string>();
  readonly #images = new Map<string, ImageBlock>();

  /** The text a paste adds: itself, or a marker if it is long or the path of an image. */
  paste(text: string, cwd: string): string {
    const clean = cleanPaste(text);
    const image = imageAt(clean.trim(), cwd);
    if (image !== undefined) return this.addImage(image);
    const lines = clean.split("\n").length;
    if (lines <= MAX_INLINE_LINES && clean.length <= MAX_INLINE_CHARS) return clean;
    const marker = this.#newMarker(lines > 1 ? `pasted ${lines} lines` : `pasted ${clean.length} characters`);
    this.#pastes.set(marker, clean);
    return marker;
  }

  addImage(image: ImageBlock): string {
    const marker = this.#newMarker("image");
    this.#images.set(marker, image);
    return marker;
  }

  /** Restores the images of a queued text that is edited again. */
  restoreImages(text: string, images: readonly ImageBlock[]): void {
    if (images.length === 0) return;
    const marks = [...text.matchAll(/\[image(?: #(\d+))?\]/g)];
    const inOrder = marks.toSorted(([, a = "1"], [, b = "1"]) => Number(a) - Number(b));
    for (const [index, image] of images.entries()) this.#images.set(inOrder[index]?.[0] ?? "[image]", image);
  }

  expand(text: string): string {
    let whole = text;
    for (const [marker, paste] of this.#pastes) whole = whole.replace(marker, () => paste);
    return whole;
  }

  imagesIn(text: string): readonly ImageBlock[] {
    return [...this.#images].filter(([marker]) => text.includes(marker)).map(([, image]) => image);
  }

  #newMarker(what: string): string {
    for (let number = 1; ; number++) {
      const marker = number === 1 ? `[${what}]` : `[${what} #${number}]`;
      if (!this.#pastes.has(marker) && !this.#images.has(marker)) return marker;
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

/** The image at a path, as terminals paste it when a file is dropped on them. */
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
export function earlierInputs(store: SessionStore, cwd: string): readonly string[] {
  const texts: string[][] = [];
  let bytes = 0;
  let count = 0;
  for (const { path, bytes: size } of store.list(cwd).slice(0, MAX_SESSIONS)) {
    bytes += size;
    if (bytes > MAX_BYTES || count >= MAX_MESSAGES) break;
    const typed = inputsIn(path);
    count += typed.length;
    texts.unshift([...typed]);
  }
  return texts.flat();
}

function inputsIn(path: string): readonly string[] {
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
