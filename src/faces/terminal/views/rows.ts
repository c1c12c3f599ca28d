import { pluralize } from "../../../core/base/text.ts";
import {
  type AgentBlock,
  type Block,
  blockOf,
  type CallBlock,
  isFinal,
  type Level,
} from "../../../view/blocks.ts";
import { evidenceText } from "../../../view/evidence.ts";
import type { ToolItem, ViewItem } from "../../../view/view.ts";
import { CALL_STATES, ENDING_ADVICE, ENDING_TEXTS, phraseText } from "../../../view/words.ts";
import { costText, dayText, durationText, secondsText, timeText, tokensText } from "../../text/amounts.ts";
import { MarkdownStream, markdownRows } from "../markdown/markdown-stream.ts";
import {
  cutRows,
  fitLine,
  type Line,
  line,
  lineColumns,
  oneLine,
  span,
  textLines,
  type ViewContext,
  wrapLine,
} from "../paint/line.ts";
import type { Role, Style } from "../paint/theme.ts";
import { diffLines } from "./diff-lines.ts";
import { traceLine } from "./list-lines.ts";

/** Maximum rows. */
const MESSAGE_ROWS = 16;
const SHELL_ROWS = 30;
const DIFF_ROWS = 40;
const END_ROWS = 4;
const DETAIL_ROWS = 200;
/** A shorter run without changes gets no line. */
const LONG_RUN_MS = 5_000;

/** An item of the conversation as rows, with an empty row first if it stands apart from the previous item. */
export function itemRows(
  item: ViewItem,
  context: ViewContext,
  before: ViewItem["type"] | undefined,
): readonly Line[] {
  const block = blockOf(item, context);
  const rows = block === undefined ? [] : rowsOf(block, context);
  if (rows.length === 0) return [];
  return before !== undefined && needsBlankRow(item.type, before) ? [[], ...rows] : rows;
}

function needsBlankRow(type: ViewItem["type"], before: ViewItem["type"]): boolean {
  if (type === "tool" || type === "notice" || type === "thinking")
    return before !== type && before !== "thinking";
  return true;
}

export function rowsOf(block: Block, context: ViewContext): readonly Line[] {
  const { width, marks } = context;
  switch (block.kind) {
    case "said":
      return userMessageRows(block, context);
    case "answer": {
      const rows = markdownRows(block.markdown, width, marks);
      return block.state === "interrupted" ? [...rows, INTERRUPTED] : rows;
    }
    case "thinking":
      return thinkingRows(block, context);
    case "call":
      return callRows(block, context);
    case "shell":
      return shellRows(block, context);
    case "note": {
      const { level, phrase } = block;
      // The trust list shows it.
      if (phrase.code === "notice" && phrase.notice.code === "untrusted") return [];
      const mark = phrase.code === "compacted" ? marks.down : level === "info" ? marks.dot : "!";
      return noteRows(phraseText(phrase, tokensText), { level, mark }, context);
    }
    case "end":
      return endRows(block, context);
  }
}

/** Below a stopped answer. */
const INTERRUPTED: Line = line("(interrupted)", { role: "warning" });
/** Below the output of a failed attempt; the next attempt starts over. */
const FAILED_ATTEMPT: Line = line("(broken off)", { role: "warning" });

const LEVELS: { readonly [level in Level]: Role } = { info: "muted", warning: "warning", error: "bad" };

function noteRows(
  text: string,
  { level, mark }: { readonly level: Level; readonly mark: string },
  { width }: ViewContext,
): readonly Line[] {
  const style = { role: LEVELS[level] };
  return wrapLine([span(oneLine(text), style)], { width, first: [span(`${mark} `, style)] });
}

type BlockOf<K extends Block["kind"]> = Extract<Block, { readonly kind: K }>;

const USER_STYLE: Style = { role: "own" };

/** On a coloured band, easy to find when scrolling back. */
function userMessageRows(block: BlockOf<"said">, { width, marks }: ViewContext): readonly Line[] {
  const images = block.images === 0 ? "" : `  [${pluralize(block.images, "image")}]`;
  const mark = span(`${marks.prompt} `, { role: "own-mark" });
  // Without colours the band is a mark on each row.
  const rest = marks.prompt === ">" ? mark : span("  ", USER_STYLE);
  const rows = textLines(block.text + images).flatMap((text, index) =>
    wrapLine([span(text, USER_STYLE)], { width, first: [index === 0 ? mark : rest], rest: [rest] }),
  );
  const more = (count: number): Line =>
    line(`  ${marks.more} ${count} more rows ${marks.more}`, { role: "muted" });
  return cutRows(rows, MESSAGE_ROWS, MESSAGE_ROWS / 2 - 1, more).map((row) => [
    ...row,
    span(" ".repeat(Math.max(0, width - lineColumns(row))), USER_STYLE),
  ]);
}

function thinkingRows(
  { text, words, isStreaming }: BlockOf<"thinking">,
  { width, details, thinking, marks, hasKeys }: ViewContext,
): readonly Line[] {
  const muted: Style = { role: "muted", italic: true };
  if (details || thinking === true)
    return textLines(text).flatMap((row) => wrapLine([span(row, muted)], { width, first: line("  ") }));
  if (isStreaming)
    return [
      fitLine(
        [span(`${marks.dot} Thinking  `, { role: "muted" }), span(textLines(text).at(-1) ?? "", muted)],
        width,
      ),
    ];
  if (words === 0) return [];
  const key = hasKeys === true ? ` ${marks.dot} ctrl+o` : "";
  return [line(`${marks.dot} Thought, ${pluralize(words, "word")}${key}`, { role: "muted" })];
}

function shellRows(
  { command, output, exitCode, shared }: BlockOf<"shell">,
  { width, marks }: ViewContext,
): readonly Line[] {
  const first = [span(shared ? "! " : "!! ", { role: "warning" })];
  const end = exitCode === null ? "stopped" : `exit code ${exitCode}`;
  return [
    ...wrapLine([span(command, { bold: true })], { width, first }),
    ...outputRows(output, SHELL_ROWS, marks.more).map((row) =>
      fitLine([span("  "), span(row, { role: "muted" })], width),
    ),
    ...(exitCode === 0 ? [] : [line(`  ${marks.bad} ${end}`, { role: "bad" })]),
  ];
}

function outputRows(text: string, most: number, sign: string): readonly string[] {
  const more = (count: number): string => `${sign} ${count} more lines`;
  return text === "" ? [] : cutRows(textLines(text), most + 1, most, more);
}

function endRows(block: BlockOf<"end">, context: ViewContext): readonly Line[] {
  const { reason, error, level, durationMs, costUsd, changes } = block;
  const { marks } = context;
  if (error !== undefined) return noteRows(error, { level, mark: marks.bad }, context);
  const checks = evidenceLine(block, marks);
  if (level === "info") {
    if (durationMs < LONG_RUN_MS && changes === undefined && checks === "") return [];
    const said = block.evidence === undefined ? "" : checks;
    const rows = wrapLine([span(said, { role: "muted" })], {
      width: context.width,
      first: line("  "),
      rest: line("  "),
    });
    return [doneRow(block, context), ...(said === "" ? [] : rows)];
  }
  const cost = costUsd === undefined ? [] : [costText(costUsd)];
  const facts = [durationText(durationMs), ...cost, ...(checks === "" ? [] : [checks])];
  const how = [`${ENDING_TEXTS[reason]}.`, ENDING_ADVICE[reason] ?? ""].filter((each) => each !== "");
  return noteRows([...how, facts.join(` ${marks.dot} `)].join(" "), { level, mark: "!" }, context);
}

/** The files that a run changed, and the checks made since. */
function evidenceLine({ changes, evidence }: BlockOf<"end">, { dot }: ViewContext["marks"]): string {
  const said = evidence === undefined ? "" : evidenceText(evidence);
  if (said === "" && changes !== undefined) return `${pluralize(changes.files, "file")} changed`;
  return said.replaceAll(" · ", ` ${dot} `);
}

function doneRow(block: BlockOf<"end">, { width, marks }: ViewContext): Line {
  const { durationMs, costUsd, changes, trace = "", reason } = block;
  const dot = span(` ${marks.dot} `);
  const isDone = ENDING_TEXTS[reason] === ENDING_TEXTS.completed;
  const changed: Line =
    changes === undefined
      ? []
      : [
          dot,
          span(pluralize(changes.files, "file")),
          span(changes.added === 0 ? "" : ` +${changes.added}`, { role: "added" }),
          span(changes.removed === 0 ? "" : ` ${marks.minus}${changes.removed}`, { role: "removed" }),
        ];
  const facts: Line = [
    span(`${isDone ? marks.ok : marks.dot} `, { role: isDone ? "good" : "muted" }),
    span(`${ENDING_TEXTS[reason]}  `, { bold: true }),
    span(durationText(durationMs)),
    ...changed,
    ...(costUsd === undefined || costUsd === 0 ? [] : [dot, span(costText(costUsd))]),
    ...(changes === undefined ? [] : [dot, span("/undo", { role: "muted" })]),
  ];
  const whole: Line = [...facts, span("     "), ...traceLine(trace, marks)];
  return lineColumns(whole) <= width ? whole : fitLine(facts, width);
}

/**
 * A call: one line with its state, then its change or the end of its output. No rows while a question about
 * it is open.
 */
function callRows(block: CallBlock, context: ViewContext): readonly Line[] {
  if (block.state === "asking") return [];
  const indent = block.isNested ? "  " : "";
  const inner = { ...context, width: Math.max(8, context.width - indent.length - 2) };
  const body = [
    ...(block.agent === undefined ? [] : agentRows(block.agent, inner)),
    ...bodyRows(block, inner),
  ];
  return [headRow(block, indent, context), ...body.map((row): Line => [span(`${indent}  `), ...row])];
}

function headRow(block: CallBlock, indent: string, context: ViewContext): Line {
  const { state, hasFailed, name, subject } = block;
  const { marks, width } = context;
  const mark = state === "ok" ? marks.ok : hasFailed ? marks.bad : marks.tool;
  const head: Line = [
    span(indent),
    span(`${mark} `, { role: hasFailed ? "bad" : (ROLES[state] ?? "muted") }),
    span(name, { bold: true }),
    span(subject === "" ? "" : ` ${oneLine(subject)}`),
  ];
  // A long title leaves at least half of the row.
  const end = fitLine(
    [span(stateText(block, context), { role: hasFailed ? "bad" : "muted" })],
    Math.max(Math.floor(width / 2), width - lineColumns(head) - 2),
  );
  return [...fitLine(head, Math.max(10, width - lineColumns(end) - 2)), span("  "), ...end];
}

const ROLES: { readonly [state in ToolItem["state"]]?: Role } = {
  writing: "muted",
  asking: "warning",
  running: "accent",
  ok: "good",
};

function stateText({ state, brief, startedAt, durationMs }: CallBlock, { now, marks }: ViewContext): string {
  if (state === "writing" || state === "running")
    return startedAt === undefined ? marks.more : secondsText(now - startedAt);
  const word = CALL_STATES[state] ?? oneLine(brief).trim();
  const time = durationMs === undefined || state === "denied" ? "" : durationText(durationMs);
  return [word, time].filter((each) => each !== "").join(` ${marks.dot} `);
}

function bodyRows(block: CallBlock, context: ViewContext): readonly Line[] {
  const { diff, output, shows, state, agent } = block;
  const { details, marks, width } = context;
  if (diff !== undefined) {
    const hint = context.hasKeys === true ? " (/diff shows all)" : "";
    return cutRows(diffLines(diff, context), details ? DETAIL_ROWS : DIFF_ROWS, 0, (count) =>
      line(`${marks.more} ${count} more rows${hint}`, { role: "muted" }),
    );
  }
  if (shows === "folded" && (!details || agent !== undefined)) return [];
  const style = { role: state === "error" ? "bad" : "muted" } as const;
  return outputRows(output, details ? DETAIL_ROWS : END_ROWS, marks.more).map((row) =>
    fitLine(line(row, style), width),
  );
}

function agentRows(agent: AgentBlock, context: ViewContext): readonly Line[] {
  const { marks, width } = context;
  const spent = [
    pluralize(agent.calls, "call"),
    `${tokensText(agent.outputTokens)} tokens`,
    costText(agent.costUsd),
  ].join(` ${marks.dot} `);
  const head: Line = [
    span(`${marks.child} `, { role: "muted" }),
    span(agent.name, { role: "accent" }),
    span(`  ${spent}`, { role: "muted" }),
  ];
  return [fitLine(head, width), ...agent.items.flatMap((each) => childRows(each, context))];
}

function childRows(item: ViewItem, context: ViewContext): readonly Line[] {
  const block = blockOf(item, context);
  if (block?.kind !== "call" && block?.kind !== "answer") return [];
  const inner = { ...context, width: Math.max(8, context.width - 2) };
  const rows =
    block.kind === "answer"
      ? textLines(block.markdown).flatMap((row) => wrapLine(line(row), { width: inner.width }))
      : callRows(block, inner);
  const isShort = !context.details && block.kind === "call" && block.agent === undefined;
  return (isShort ? rows.slice(0, 1) : rows).map((row): Line => [span("  "), ...row]);
}

const MAX_DETAILED_ITEMS = 100;

export function detailRows(items: readonly ViewItem[], context: ViewContext): readonly Line[] {
  const unfolded = { ...context, details: true };
  const rows = items
    .slice(-MAX_DETAILED_ITEMS)
    .filter(({ type }) => type === "tool" || type === "thinking" || type === "user")
    .flatMap((item) => [...itemRows(item, unfolded, undefined), ...argumentsOf(item, context), []]);
  return rows.length === 0 ? [line("No calls or thinking yet.", { role: "muted" })] : rows;
}

function argumentsOf(item: ViewItem, { width }: ViewContext): readonly Line[] {
  if (item.type !== "tool" || Object.keys(item.input).length === 0) return [];
  const first = line("    ");
  return textLines(JSON.stringify(item.input, undefined, 2)).flatMap((row) =>
    wrapLine([span(row, { role: "muted" })], { width, first }),
  );
}

/** Maximum items shown of a resumed conversation. */
const MAX_RESUMED_ITEMS = 60;

export interface ScrollbackRows {
  readonly final: readonly Line[];
  readonly live: () => readonly Line[];
}

interface ScrollOptions {
  /** Index of the first item. Default 0. */
  readonly from?: number;
  /** True: no empty rows between items. */
  readonly isTight?: boolean;
  /** False: an answer is printed when it is complete. Default true. */
  readonly isLive?: boolean;
  /** False for an item without rows; called when the item is final. `next`: the following item. */
  readonly isShown?: (item: ViewItem, next: ViewItem | undefined) => boolean;
}

/** Returns each final row of a conversation once, including those of an unfinished answer. */
export class ScrollbackWriter {
  readonly #options: ScrollOptions;
  #next: number;
  /** The person's messages among the items already handled. */
  #userMessages = 0;
  #previous: ViewItem["type"] | undefined;
  #stream: { readonly id: string; readonly markdown: MarkdownStream; chars: number } | undefined;
  #pendingLines: Line[] = [];

  constructor(options: ScrollOptions = {}) {
    this.#options = options;
    this.#next = options.from ?? 0;
  }

  /** Index of the first item not printed. */
  get next(): number {
    return this.#next;
  }

  /** Skips everything before the last message; a line counts what was skipped. */
  skipEarlier(items: readonly ViewItem[], { marks, now }: ViewContext): void {
    const last = items.findLastIndex(({ type }) => type === "user");
    const skipped = Math.max(last, items.length - MAX_RESUMED_ITEMS);
    const earlier = items.slice(0, Math.max(0, skipped));
    const said = earlier.filter(({ type }) => type === "user" || type === "answer");
    const [first] = said;
    if (first === undefined) return;
    this.#next = skipped;
    this.#userMessages = earlier.filter(({ type }) => type === "user").length;
    const day = dayText(first.time, now);
    const since = day === "Today" ? timeText(first.time, first.time + 3_600_000) : day;
    const text = `${marks.dot} ${pluralize(said.length, "earlier message")} since ${since}`;
    this.#pendingLines.push(line(text, { role: "muted" }), []);
  }

  /** Continues after a reset of the view: printed rows stay, and a line tells if messages were removed. */
  restart(items: readonly ViewItem[]): void {
    const said = items.filter(({ type }) => type === "user").length;
    if (said < this.#userMessages)
      this.#pendingLines.push(
        [],
        line("Rewound. The conversation continues from here.", { role: "warning" }),
      );
    this.#userMessages = said;
    this.#next = items.length;
    this.#stream = undefined;
  }

  /** Prints lines outside the conversation, before its next rows. */
  print(lines: readonly Line[]): void {
    this.#pendingLines.push(...lines);
    this.#previous ??= "notice";
  }

  /** The rows to show now. `isOver`: whether an item is final. */
  advance(
    items: readonly ViewItem[],
    context: ViewContext,
    isOver: (item: ViewItem) => boolean = isFinal,
  ): ScrollbackRows {
    const { width } = context;
    const { isTight, isLive = true, isShown = () => true } = this.#options;
    const final: Line[] = this.#stream === undefined ? this.#takePending(width) : [];
    for (let item = items[this.#next]; item !== undefined; item = items[this.#next]) {
      const isDone = isOver(item);
      if (item.type === "answer" && isLive) final.push(...this.#streamAnswer(item, context, isDone));
      else if (isDone && isShown(item, items[this.#next + 1]))
        final.push(...safeLines(item, context, this.#previous));
      if (!isDone) break;
      if (item.type === "user") this.#userMessages++;
      if (isTight !== true && (item.type !== "answer" || item.text !== "")) this.#previous = item.type;
      this.#stream = undefined;
      this.#next++;
      final.push(...this.#takePending(width));
    }
    // While an answer streams, other lines show below it and become final after it.
    const live = (): readonly Line[] => [
      ...this.#live(items, context),
      ...this.#pendingLines.flatMap((row) => fitRow(row, width)),
    ];
    return { final, live };
  }

  #takePending(width: number): Line[] {
    return this.#pendingLines.splice(0).flatMap((row) => fitRow(row, width));
  }

  #streamAnswer(
    item: Extract<ViewItem, { type: "answer" }>,
    context: ViewContext,
    isDone: boolean,
  ): readonly Line[] {
    const rows: Line[] = [];
    if (this.#stream?.id !== item.id) {
      if (item.text === "") return [];
      this.#stream = {
        id: item.id,
        markdown: new MarkdownStream(context.marks),
        chars: 0,
      };
      if (this.#previous !== undefined && needsBlankRow("answer", this.#previous)) rows.push([]);
    }
    const stream = this.#stream;
    stream.markdown.push(item.text.slice(stream.chars));
    stream.chars = item.text.length;
    if (isDone) stream.markdown.end();
    rows.push(...stream.markdown.takeFinalRows(context.width));
    if (item.isVoid === true) rows.push(FAILED_ATTEMPT);
    else if (item.state === "interrupted") rows.push(INTERRUPTED);
    return rows;
  }

  #live(items: readonly ViewItem[], context: ViewContext): readonly Line[] {
    let before = this.#previous;
    return items.slice(this.#next).flatMap((item) => {
      if (item.id === this.#stream?.id) {
        before = item.type;
        return this.#stream.markdown.openRows(context.width);
      }
      const rows = safeLines(item, context, before);
      if (rows.length > 0) before = item.type;
      return rows;
    });
  }
}

function fitRow(row: Line, width: number): readonly Line[] {
  if (lineColumns(row) <= width) return [row];
  const [margin = ""] = /^ */.exec(row.map(({ text }) => text).join("")) ?? [];
  return wrapLine(row, { width, rest: line(margin.slice(0, width / 2)) });
}

/** Falls back to plain text if drawing an item fails. */
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
