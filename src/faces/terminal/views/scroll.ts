import { counted } from "../../../core/base/text.ts";
import { isFinal } from "../../../view/blocks.ts";
import type { ViewItem } from "../../../view/view.ts";
import { MarkdownStream } from "../markdown/markdown-stream.ts";
import { type Line, line, lineColumns, wrapLine } from "../paint/line.ts";
import { dayText, timeText } from "./amounts.ts";
import { BROKEN_OFF, INTERRUPTED, itemRows, standsApart } from "./rows.ts";
import type { ViewContext } from "./view-context.ts";

/** Most items of a conversation opened again that are shown. */
const SHOWN_AGAIN = 60;

/** Rows of a conversation: those that are final, each given out once, and those that may still change. */
export interface ScrollRows {
  readonly final: readonly Line[];
  readonly live: readonly Line[];
}

/**
 * Goes through the items of a conversation. What cannot change any more is given out once; so are the rows of
 * an answer that is being written, as soon as more text cannot change them.
 */
export class Scroll {
  #next = 0;
  /** Messages of the person among the items that were gone through. */
  #said = 0;
  #before: ViewItem["type"] | undefined;
  #stream: { readonly id: string; readonly markdown: MarkdownStream; chars: number } | undefined;
  #extra: Line[] = [];

  /** Skips what was said before the last message of the person, and tells how much that is. */
  open(items: readonly ViewItem[], { marks, now }: ViewContext): void {
    const last = items.findLastIndex(({ type }) => type === "user");
    const skipped = Math.max(last, items.length - SHOWN_AGAIN);
    const earlier = items.slice(0, Math.max(0, skipped));
    const said = earlier.filter(({ type }) => type === "user" || type === "answer");
    const [first] = said;
    if (first === undefined) return;
    this.#next = skipped;
    this.#said = earlier.filter(({ type }) => type === "user").length;
    const day = dayText(first.time, now);
    const since = day === "Today" ? timeText(first.time, first.time + 3_600_000) : day;
    const text = `${marks.dot} ${counted(said.length, "earlier message")} since ${since}`;
    this.#extra.push(line(text, { role: "muted" }), []);
  }

  /**
   * The view begins anew: what was printed stays, and only what comes from here on is given out. A line says
   * so where something was taken back.
   */
  restart(items: readonly ViewItem[]): void {
    const said = items.filter(({ type }) => type === "user").length;
    if (said < this.#said)
      this.#extra.push([], line("Rewound. The conversation continues from here.", { role: "warning" }));
    this.#said = said;
    this.#next = items.length;
    this.#stream = undefined;
  }

  /** Prints lines that are no part of the conversation, before whatever of it comes next. */
  print(lines: readonly Line[]): void {
    this.#extra.push(...lines);
    this.#before ??= "notice";
  }

  /** The rows to show now. `isOver`: tells whether an item cannot change any more. */
  advance(
    items: readonly ViewItem[],
    context: ViewContext,
    isOver: (item: ViewItem) => boolean = isFinal,
  ): ScrollRows {
    const { width } = context;
    const final: Line[] = this.#stream === undefined ? this.#printed(width) : [];
    for (let item = items[this.#next]; item !== undefined; item = items[this.#next]) {
      if (item.type === "answer") final.push(...this.#streamed(item, context));
      else if (isOver(item)) final.push(...safeLines(item, context, this.#before));
      if (!isOver(item)) break;
      if (item.type === "user") this.#said++;
      if (item.type !== "answer" || item.text !== "") this.#before = item.type;
      this.#stream = undefined;
      this.#next++;
      final.push(...this.#printed(width));
    }
    const live = this.#live(items, context);
    // In the middle of an answer they can be read at once, and become final behind it.
    return { final, live: [...live, ...this.#extra.flatMap((row) => fitting(row, width))] };
  }

  #printed(width: number): Line[] {
    return this.#extra.splice(0).flatMap((row) => fitting(row, width));
  }

  /** The rows of an answer that are certain. */
  #streamed(item: Extract<ViewItem, { type: "answer" }>, context: ViewContext): readonly Line[] {
    const rows: Line[] = [];
    if (this.#stream?.id !== item.id) {
      if (item.text === "") return [];
      const { marks, highlight } = context;
      this.#stream = {
        id: item.id,
        markdown: new MarkdownStream({ marks, highlight }),
        chars: 0,
      };
      if (this.#before !== undefined && standsApart("answer", this.#before)) rows.push([]);
    }
    const stream = this.#stream;
    stream.markdown.push(item.text.slice(stream.chars));
    stream.chars = item.text.length;
    if (item.state !== "streaming") stream.markdown.end();
    rows.push(...stream.markdown.take(context.width));
    if (item.isVoid === true) rows.push(BROKEN_OFF);
    else if (item.state === "interrupted") rows.push(INTERRUPTED);
    return rows;
  }

  #live(items: readonly ViewItem[], context: ViewContext): readonly Line[] {
    let before = this.#before;
    return items.slice(this.#next).flatMap((item) => {
      if (item.id === this.#stream?.id) {
        before = item.type;
        return this.#stream.markdown.open(context.width);
      }
      const rows = safeLines(item, context, before);
      if (rows.length > 0) before = item.type;
      return rows;
    });
  }
}

function fitting(row: Line, width: number): readonly Line[] {
  if (lineColumns(row) <= width) return [row];
  const [margin = ""] = /^ */.exec(row.map(({ text }) => text).join("")) ?? [];
  return wrapLine(row, { width, rest: line(margin.slice(0, width / 2)) });
}

/** A view that fails shows its item plain, and the program goes on. */
function safeLines(
  item: ViewItem,
  context: ViewContext,
  before: ViewItem["type"] | undefined,
): readonly Line[] {
  try {
    return itemRows(item, context, before);
  } catch {
    const text = "text" in item ? item.text : "title" in item ? item.title : item.type;
    return text.split("\n").map((each) => line(each));
  }
}
