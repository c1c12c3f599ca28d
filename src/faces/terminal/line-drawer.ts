import type { JournalEntry } from "../../core/agent/entries.ts";
import { sessionSteps } from "../../journal/steps.ts";
import type { Environment } from "../../system/env.ts";
import { blockOf, isFinal } from "../../view/blocks.ts";
import type { Notice } from "../../view/notice.ts";
import type { AnswerItem, ToolItem, ViewItem } from "../../view/view.ts";
import { EMPTY_HOST, ViewFold } from "../../view/view-fold.ts";
import { MarkdownStream } from "./markdown/markdown-stream.ts";
import { type Line, line, paintLine, shownText, span, type ViewContext } from "./paint/line.ts";
import { type Look, lookFor, type Marks, marksOf } from "./paint/theme.ts";
import { BROKEN_OFF, INTERRUPTED, itemRows, rowsOf } from "./views/rows.ts";

export interface LinePlace {
  readonly environment: Environment;
  /** False: text without styles, for a file or a pipe. */
  readonly isStyled: boolean;
  readonly columns: () => number;
}

/** Writes rows as lines: nothing is drawn twice, and the cursor is never moved. */
export class LineWriter {
  readonly #place: LinePlace;
  readonly #look: Look;

  constructor(place: LinePlace) {
    this.#place = place;
    const look = lookFor(place.environment, "ansi");
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
    const isPlain = !this.#look.links && !this.#look.colour;
    return rows
      .map((row) =>
        isPlain
          ? row
              .map((each) => shownText(each, this.#look))
              .join("")
              .trimEnd()
          : paintLine(row, this.#look),
      )
      .map((row) => `${row}\n`)
      .join("");
  }

  answer(markdown: string): string {
    const stream = this.stream();
    stream.push(markdown);
    stream.end();
    return this.text(stream.take(this.context.width));
  }

  stream(): MarkdownStream {
    return new MarkdownStream(this.marks);
  }
}

export interface LineDrawerOptions extends LinePlace {
  readonly write: (text: string) => void;
  /** Takes the answers while they are written; absent when the last of them goes elsewhere. */
  readonly writeAnswer?: ((text: string) => void) | undefined;
  /** Notices that were told already. */
  readonly told: ReadonlySet<Notice>;
}

/**
 * Draws a run that nobody types into: answers as they are written, everything else once it cannot change any
 * more. What stood in the conversation before is left out.
 */
export class LineDrawer {
  readonly #options: LineDrawerOptions;
  readonly #writer: LineWriter;
  #next: number;
  readonly #drawn = new Set<string>();
  /** Calls of subagents that were drawn, by the call that started them. */
  readonly #children = new Map<string, number>();
  #stream: { readonly id: string; readonly markdown: MarkdownStream; chars: number } | undefined;

  constructor(options: LineDrawerOptions, before: readonly ViewItem[]) {
    this.#options = options;
    this.#writer = new LineWriter(options);
    this.#next = before.length;
  }

  draw(items: readonly ViewItem[]): void {
    let isInOrder = true;
    for (let at = this.#next; at < items.length; at++) {
      const item = items[at];
      if (item === undefined || (item.type !== "tool" && !isInOrder)) return;
      if (this.#drawn.has(item.id)) continue;
      if (item.type === "answer" && !this.#answer(item, items[at + 1])) return;
      if (item.type === "tool") this.#subagent(item);
      // A call made by another one stands below it.
      const isBehind = item.type === "tool" && this.#isOpen(item.parentCallId, items);
      if (!isFinal(item) || isBehind) isInOrder = false;
      else {
        this.#item(item);
        this.#drawn.add(item.id);
      }
      if (isInOrder) this.#next = at + 1;
    }
  }

  end(items: readonly ViewItem[]): void {
    this.draw(items);
    if (this.#stream !== undefined) this.#endStream([]);
  }

  #isOpen(parentCallId: string | undefined, items: readonly ViewItem[]): boolean {
    if (parentCallId === undefined) return false;
    return items.some(
      (each) => each.type === "tool" && each.callId === parentCallId && !this.#drawn.has(each.id),
    );
  }

  #item(item: ViewItem): void {
    // The prompt is known, an end has a line of its own, and a notice that was told needs none.
    if (item.type === "user" || item.type === "run_end" || item.type === "answer") return;
    if (item.type === "notice" && this.#options.told.has(item.notice)) return;
    const context = { ...this.#writer.context, details: item.type === "thinking" };
    this.#options.write(this.#writer.text(itemRows(item, context, undefined)));
  }

  /** Shows more of an answer; says whether all of it is shown. `next`: what follows it. */
  #answer(item: AnswerItem, next: ViewItem | undefined): boolean {
    const { write, writeAnswer } = this.#options;
    if (writeAnswer === undefined) {
      // Text that something follows is not the last answer, which goes elsewhere.
      if (!isFinal(item) || next === undefined) return false;
      const isShown = next.type !== "run_end" && item.isVoid !== true && item.text.trim() !== "";
      if (isShown) write(this.#writer.answer(item.text.trim()));
      return true;
    }
    if (item.text !== "") {
      if (this.#stream?.id !== item.id)
        this.#stream = { id: item.id, markdown: this.#writer.stream(), chars: 0 };
      const { markdown, chars } = this.#stream;
      markdown.push(item.text.slice(chars));
      this.#stream.chars = item.text.length;
      writeAnswer(this.#writer.text(markdown.take(this.#writer.context.width)));
    }
    if (!isFinal(item)) return false;
    if (this.#stream?.id === item.id)
      this.#endStream(
        item.isVoid === true ? [BROKEN_OFF] : item.state === "interrupted" ? [INTERRUPTED] : [],
      );
    return true;
  }

  #endStream(rows: readonly Line[]): void {
    const { markdown } = this.#stream ?? { markdown: this.#writer.stream() };
    markdown.end();
    const text = this.#writer.text([...markdown.take(this.#writer.context.width), ...rows]);
    this.#options.writeAnswer?.(text);
    this.#stream = undefined;
  }

  /** The calls of a subagent as they end, each with its name: several may work. */
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
      this.#options.write(
        this.#writer.text(rows.map((row, index) => [...(index === 0 ? head : line("    ")), ...row])),
      );
    }
    this.#children.set(callId, at);
  }
}

/** A stored session as lines: the newest `most` steps, each below its number. */
export function sessionLines(entries: readonly JournalEntry[], most: number, place: LinePlace): string {
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
  fold.leaveRun();
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
