import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { JournalEntry } from "../../core/agent/entries.ts";
import { sessionSteps } from "../../journal/steps.ts";
import type { Environment } from "../../system/env.ts";
import { blockOf, isFinal } from "../../view/blocks.ts";
import type { Notice } from "../../view/notice.ts";
import type { Question, QuestionReply } from "../../view/question.ts";
import type { ToolItem, ViewItem } from "../../view/view.ts";
import { EMPTY_HOST, ViewFold } from "../../view/view-fold.ts";
import { markdownRows } from "./markdown/markdown-stream.ts";
import { type Line, line, paintLine, shownText, span, type ViewContext } from "./paint/line.ts";
import { type Appearance, appearanceFor, type Marks, marksOf } from "./paint/theme.ts";
import { TYPE_AHEAD_MS } from "./panels/panel.ts";
import { numberedReply, wholeQuestion } from "./views/question-lines.ts";
import { itemRows, rowsOf, ScrollbackWriter } from "./views/rows.ts";

/** Rows without styles, one per line. */
export function plainText(rows: readonly Line[], look: Pick<Appearance, "unicode">): string {
  const texts = rows.map((row) => row.map((each) => shownText(each, look)).join(""));
  return texts.map((text) => `${text.trimEnd()}\n`).join("");
}

export interface LineOutput {
  readonly environment: Environment;
  /** False: text without styles, for a file or pipe. */
  readonly isStyled: boolean;
  readonly columns: () => number;
}

/** Writes rows as lines: never redraws, never moves the cursor. */
export class LineWriter {
  readonly #place: LineOutput;
  readonly #look: Appearance;

  constructor(place: LineOutput) {
    this.#place = place;
    const look = appearanceFor(place.environment, "ansi");
    const isPlain = !place.isStyled || place.environment["TERM"] === "dumb";
    this.#look = isPlain
      ? { ...look, colour: false, links: false, unicode: !place.isStyled || look.unicode }
      : look;
  }

  get marks(): Marks {
    return marksOf(this.#look);
  }

  get context(): ViewContext {
    const width = Math.max(20, this.#place.columns());
    return { width, marks: this.marks, now: Date.now(), details: false };
  }

  text(rows: readonly Line[]): string {
    if (!this.#look.links && !this.#look.colour) return plainText(rows, this.#look);
    return rows.map((row) => `${paintLine(row, this.#look)}\n`).join("");
  }

  answer(markdown: string): string {
    return this.text(markdownRows(markdown, this.context.width, this.marks));
  }
}

export interface LineDrawerOptions extends LineOutput {
  readonly write: (text: string) => void;
  /** True: answers are drawn as they are written. False: the last one goes elsewhere. */
  readonly isLive: boolean;
  /** Notices already shown. */
  readonly shownNotices: ReadonlySet<Notice>;
}

/**
 * Draws a headless run: answers as they are written, everything else once it is final. Skips earlier parts of
 * the conversation.
 */
export class LineDrawer {
  readonly #options: LineDrawerOptions;
  readonly #writer: LineWriter;
  readonly #scroll: ScrollbackWriter;
  /** Number of drawn subagent calls, by the call that started the subagent. */
  readonly #children = new Map<string, number>();

  constructor(options: LineDrawerOptions, before: readonly ViewItem[]) {
    this.#options = options;
    this.#writer = new LineWriter(options);
    this.#scroll = new ScrollbackWriter({
      from: before.length,
      isTight: true,
      isLive: options.isLive,
      isShown: (item, next) => this.#isShown(item, next),
    });
  }

  draw(items: readonly ViewItem[]): void {
    for (const item of items.slice(this.#scroll.next)) if (item.type === "tool") this.#subagent(item);
    // The last answer goes elsewhere.
    this.#advance(items, (item) => isFinal(item) && (this.#isPrinted(item) || item !== items.at(-1)));
  }

  end(items: readonly ViewItem[]): void {
    this.draw(items);
    this.#advance(items, () => true);
  }

  #advance(items: readonly ViewItem[], isOver: (item: ViewItem) => boolean): void {
    const context = { ...this.#writer.context, thinking: true };
    this.#write(this.#scroll.advance(items, context, isOver).final);
  }

  #write(rows: readonly Line[]): void {
    if (rows.length > 0) this.#options.write(this.#writer.text(rows));
  }

  #isPrinted(item: ViewItem): boolean {
    return this.#options.isLive || item.type !== "answer";
  }

  /** The caller prints the prompt and the end of the run. */
  #isShown(item: ViewItem, next: ViewItem | undefined): boolean {
    if (item.type === "user" || item.type === "run_end") return false;
    if (item.type === "notice") return !this.#options.shownNotices.has(item.notice);
    return this.#isPrinted(item) || (next !== undefined && next.type !== "run_end");
  }

  /** Draws a subagent's calls as they end, each with its name, because several may run. */
  #subagent({ callId, agent }: ToolItem): void {
    if (agent === undefined) return;
    const from = this.#children.get(callId) ?? 0;
    const context = this.#writer.context;
    let at = from;
    for (let item = agent.items[at]; item !== undefined && isFinal(item); item = agent.items[++at]) {
      const block = item.type === "tool" ? blockOf(item, context) : undefined;
      if (block === undefined) continue;
      const head: Line = [span(`  ${agent.name} ${context.marks.dot} `, { role: "muted" })];
      const rows = rowsOf(block, { ...context, width: Math.max(8, context.width - agent.name.length - 5) });
      this.#write(rows.map((row, index) => [...(index === 0 ? head : line("    ")), ...row]));
    }
    this.#children.set(callId, at);
  }
}

/** A stored session as lines: the newest `most` steps, each under its number. */
export function sessionLines(entries: readonly JournalEntry[], most: number, place: LineOutput): string {
  const writer = new LineWriter(place);
  const steps = new Map(sessionSteps(entries).map(({ number, answerAt }) => [answerAt, number]));
  const fold = new ViewFold(EMPTY_HOST);
  const { items } = fold.view;
  const starts = new Map<number, number>();
  for (const [at, entry] of entries.entries()) {
    const step = steps.get(at);
    if (step !== undefined) starts.set(items.length, step);
    fold.apply(entry);
  }
  fold.endAbandonedRun();
  const left = steps.size - most;
  const from = left > 0 ? ([...starts].find(([, step]) => step > left)?.[0] ?? 0) : 0;
  const rows: Line[] =
    left > 0 ? [line(`${writer.marks.more} ${left} steps before, see --json`, { role: "muted" })] : [];
  for (const [at, item] of items.entries()) {
    if (at < from) continue;
    const step = starts.get(at);
    if (item.type === "user" || step !== undefined) rows.push([]);
    if (step !== undefined) rows.push(line(`step ${step}`, { role: "muted" }));
    rows.push(...itemRows(item, writer.context, undefined));
  }
  return writer.text(rows);
}

export interface TypedInput extends NodeJS.ReadableStream {
  readonly setRawMode?: (isRaw: boolean) => unknown;
}

export interface QuestionTerminal extends LineOutput {
  readonly input: TypedInput;
  readonly output: NodeJS.WritableStream;
  /** Quiet milliseconds before a line counts, so that nothing typed before is an answer. Default 200. */
  readonly quietMs?: number;
}

const CTRL_C = "\x03";
const ANSWER_HELP =
  "Number and Enter (for a refusal with a reason: its number, a blank, the reason; Esc stops the run)";

/**
 * Asks a question below a run's output; the reply is a line. Resolves to `undefined` for Ctrl-C, to a refusal
 * if the terminal disappears. Rejects with the signal's reason, and when the terminal belongs to another job.
 */
export async function askInLines(
  question: Question,
  signal: AbortSignal,
  place: QuestionTerminal,
): Promise<QuestionReply | undefined> {
  signal.throwIfAborted();
  if (!isInForeground()) throw new Error("this process runs in the background of its terminal");
  const writer = new LineWriter(place);
  const { input, output } = place;
  const { context } = writer;
  // Before the question is visible: otherwise Ctrl-C would end the surrounding shell too.
  input.setRawMode?.(true);
  try {
    output.write(writer.text([...wholeQuestion(question, context), line(ANSWER_HELP, { role: "muted" })]));
    if ((await waitForQuiet(place, signal)) === "interrupted") return undefined;
    return await readReply(question, signal, place);
  } finally {
    input.setRawMode?.(false);
  }
}

/** Drops typed text until nothing arrives for `quietMs`. */
function waitForQuiet(
  { input, quietMs = TYPE_AHEAD_MS }: QuestionTerminal,
  signal: AbortSignal,
): Promise<"quiet" | "interrupted"> {
  return new Promise((resolve, reject) => {
    const end = (done: () => void): void => {
      clearTimeout(timer);
      input.off("data", onData);
      input.off("end", onEnd);
      signal.removeEventListener("abort", onAbort);
      input.pause();
      done();
    };
    const onEnd = (): void => end(() => resolve("quiet"));
    const onAbort = (): void => end(() => reject(signal.reason));
    const onData = (data: Buffer | string): void => {
      clearTimeout(timer);
      if (data.toString().includes(CTRL_C)) return end(() => resolve("interrupted"));
      timer = setTimeout(onEnd, quietMs);
    };
    let timer = setTimeout(onEnd, quietMs);
    input.on("data", onData);
    input.once("end", onEnd);
    signal.addEventListener("abort", onAbort, { once: true });
    input.resume();
  });
}

function readReply(
  question: Question,
  signal: AbortSignal,
  { input, output }: QuestionTerminal,
): Promise<QuestionReply | undefined> {
  const reader = createInterface({ input, output, terminal: true, prompt: "> ", historySize: 0 });
  const { promise, resolve, reject } = Promise.withResolvers<QuestionReply | undefined>();
  const onAbort = (): void => {
    output.write("\n(not answered: the run ended)\n");
    reject(signal.reason);
  };
  const onKey = (_text: string, key: { readonly name?: string } | undefined): void => {
    if (key?.name === "escape") resolve({ choice: "stop" });
  };
  signal.addEventListener("abort", onAbort, { once: true });
  input.on("keypress", onKey);
  reader.on("SIGINT", () => resolve(undefined));
  reader.on("close", () => resolve({ choice: "no" }));
  reader.on("line", (text) => {
    const reply = numberedReply(question, text);
    if (reply !== undefined) return resolve(reply);
    output.write("(type the number of one of the answers)\n");
    reader.prompt();
  });
  reader.prompt();
  return promise.finally(() => {
    signal.removeEventListener("abort", onAbort);
    input.off("keypress", onKey);
    reader.close();
    output.write("\n");
  });
}

/** A background job would be stopped by reading. True if unknown. */
function isInForeground(): boolean {
  try {
    const [, , group, , , foreground] = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    // -1: no terminal.
    return group === foreground || foreground === "-1";
  } catch {
    return true;
  }
}
