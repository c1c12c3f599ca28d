import { counted } from "../../../core/base/text.ts";
import { noticeText } from "../../../view/notice-text.ts";
import type { ShellItem, ThinkingItem, UserItem, ViewItem } from "../../../view/view.ts";
import { markdownRows } from "../markdown/markdown-stream.ts";
import { fitLine, type Line, line, lineColumns, oneLine, span, textLines, wrapLine } from "../paint/line.ts";
import type { Role, Style } from "../paint/theme.ts";
import { costText, durationText, tokensText } from "./amounts.ts";
import { toolLines } from "./tool-lines.ts";
import type { ViewContext } from "./view-context.ts";

/** Rows of what a person said, or of a command's output, before the middle is left out. */
const USER_ROWS = 60;
const SHELL_ROWS = 30;
/** A run that took less needs no line of its own. */
const LONG_RUN_MS = 5_000;

/** One item of the conversation as rows, an empty one first where it stands apart from what is before it. */
export function itemLines(
  item: ViewItem,
  context: ViewContext,
  before: ViewItem["type"] | undefined,
): readonly Line[] {
  const rows = rowsOf(item, context);
  if (rows.length === 0) return [];
  return before !== undefined && standsApart(item.type, before) ? [[], ...rows] : rows;
}

/** True when an empty row belongs between two kinds of items. */
export function standsApart(type: ViewItem["type"], before: ViewItem["type"]): boolean {
  if (type === "tool" || type === "notice" || type === "thinking")
    return before !== type && before !== "thinking";
  return true;
}

function rowsOf(item: ViewItem, context: ViewContext): readonly Line[] {
  const { width, marks } = context;
  if (item.isVoid === true) return [];
  switch (item.type) {
    case "user":
      return userLines(item, context);
    case "answer": {
      const rows = markdownRows(item.text, width, {
        marks,
        highlight: context.highlight,
      });
      return item.state === "interrupted" ? [...rows, interruptedLine()] : rows;
    }
    case "thinking":
      return thinkingLines(item, context);
    case "tool":
      return toolLines(item, context);
    case "shell":
      return shellLines(item, context);
    case "notice": {
      // An untrusted project brings a list of its own, to decide on.
      if (item.notice.code === "untrusted") return [];
      const role = LEVELS[item.notice.level];
      return wrapLine([span(oneLine(noticeText(item.notice)), { role })], {
        width,
        first: [span(item.notice.level === "info" ? `${marks.dot} ` : "! ", { role })],
      });
    }
    case "compaction":
      return [
        fitLine(
          line(
            `${marks.down} Compacted from ${tokensText(item.before)} to ${tokensText(item.after)} tokens (${item.method}).`,
            { role: "muted" },
          ),
          width,
        ),
      ];
    case "run_end":
      return runEndLines(item, context);
  }
}

const LEVELS: { readonly [level in "info" | "warning" | "error"]: Role } = {
  info: "muted",
  warning: "warning",
  error: "bad",
};

/** Stands below an answer that was stopped. */
export function interruptedLine(): Line {
  return line("(interrupted)", { role: "warning" });
}

/** On a band of their own, so that they are found again when scrolling back. */
function userLines(item: UserItem, { width, marks }: ViewContext): readonly Line[] {
  const isMarked = item.images === 0 || item.text.includes("[image");
  const images = isMarked ? "" : `  [${counted(item.images, "image")}]`;
  const mark = span(`${marks.prompt} `, { role: "own-mark" });
  // A band that is no colour is a mark on each row.
  const rest = marks.prompt === ">" ? mark : span("  ", OWN);
  const rows = textLines(item.text.trim() + images).flatMap((text, index) =>
    wrapLine([span(text, OWN)], { width, first: [index === 0 ? mark : rest], rest: [rest] }),
  );
  return middleFolded(rows, USER_ROWS, marks.more).map((row) => [
    ...row,
    span(" ".repeat(Math.max(0, width - lineColumns(row))), OWN),
  ]);
}

const OWN: Style = { role: "own" };

function middleFolded(rows: readonly Line[], most: number, sign: string): readonly Line[] {
  if (rows.length <= most) return rows;
  const head = Math.ceil(most / 2);
  const tail = most - head - 1;
  return [
    ...rows.slice(0, head),
    line(`  ${sign} ${rows.length - head - tail} more rows ${sign}`, { role: "muted" }),
    ...rows.slice(-tail),
  ];
}

function thinkingLines(item: ThinkingItem, { width, details, marks }: ViewContext): readonly Line[] {
  const text = item.text.trim();
  if (details)
    return textLines(text).flatMap((row) =>
      wrapLine([span(row, { role: "muted", italic: true })], { width, first: line("  ") }),
    );
  const words = text === "" ? 0 : text.split(/\s+/).length;
  if (item.state === "streaming") {
    const last = textLines(text).at(-1) ?? "";
    return [
      fitLine(
        [span(`${marks.dot} Thinking  `, { role: "muted" }), span(last, { role: "muted", italic: true })],
        width,
      ),
    ];
  }
  return words === 0
    ? []
    : [line(`${marks.dot} Thought, ${counted(words, "word")} ${marks.dot} ctrl+o`, { role: "muted" })];
}

function shellLines(item: ShellItem, context: ViewContext): readonly Line[] {
  const { width, marks } = context;
  const head = wrapLine([span(item.command, { bold: true })], {
    width,
    first: [span(item.shared ? "! " : "!! ", { role: "warning" })],
  });
  const output = item.output.trimEnd();
  const rows =
    output === ""
      ? []
      : textLines(output).map((row) => fitLine([span("  "), span(row, { role: "muted" })], width));
  const end = item.exitCode === null ? "stopped" : `exit code ${item.exitCode}`;
  const failed = item.exitCode === 0 ? [] : [line(`  ${marks.bad} ${end}`, { role: "bad" })];
  const first =
    rows.length > SHELL_ROWS
      ? [line(`  ${marks.more} ${rows.length - SHELL_ROWS} more lines above`, { role: "muted" })]
      : [];
  return [...head, ...first, ...rows.slice(-SHELL_ROWS), ...failed];
}

function runEndLines(
  item: Extract<ViewItem, { type: "run_end" }>,
  { width, marks }: ViewContext,
): readonly Line[] {
  const { stopReason, limit, error, durationMs, costUsd } = item;
  if (error !== undefined && stopReason !== "aborted") {
    const text = oneLine(error.message);
    return wrapLine([span(text, { role: "bad" })], {
      width,
      first: [span(`${marks.bad} `, { role: "bad" })],
    });
  }
  const how = ENDINGS[limit === "wall_time" ? limit : stopReason];
  const isPlain = how === undefined;
  if (isPlain && durationMs < LONG_RUN_MS) return [];
  const facts = [durationText(durationMs), ...(costUsd === undefined ? [] : [costText(costUsd)])].join(
    ` ${marks.dot} `,
  );
  return wrapLine([span(isPlain ? facts : `${how} ${facts}`, { role: isPlain ? "muted" : "warning" })], {
    width,
    first: [span(`${isPlain ? marks.dot : "!"} `, { role: isPlain ? "muted" : "warning" })],
  });
}

const ENDINGS: { readonly [reason: string]: string | undefined } = {
  aborted: "Stopped. Say what to do instead, or to continue.",
  max_iterations: "Turn limit reached. Your next message continues.",
  budget: "Budget used up. A higher --max-budget-usd lets it continue.",
  wall_time: "Time limit reached. Your next message continues.",
  denied: "A refused call ended the run.",
  loop_detected: "The model kept repeating itself. Say what to do differently, or pick another /model.",
  output_limit: "The answer hit the model's output limit. Ask it to continue.",
  refusal: "The model or its provider's filter refused to answer.",
  error: "The run failed.",
};

/** Items that details are shown of: the newest. */
const DETAILED = 100;

/** Calls with their arguments and the end of their output, and thinking, unfolded. */
export function detailLines(items: readonly ViewItem[], context: ViewContext): readonly Line[] {
  const unfolded = { ...context, details: true };
  const rows = items
    .slice(-DETAILED)
    .filter(({ type }) => type === "tool" || type === "thinking" || type === "user")
    .flatMap((item) => [...itemLines(item, unfolded, undefined), ...argumentsOf(item, context), []]);
  return rows.length === 0 ? [line("No calls or thinking yet.", { role: "muted" })] : rows;
}

function argumentsOf(item: ViewItem, { width }: ViewContext): readonly Line[] {
  if (item.type !== "tool" || Object.keys(item.input).length === 0) return [];
  const first = line("    ");
  return textLines(JSON.stringify(item.input, undefined, 2)).flatMap((row) =>
    wrapLine([span(row, { role: "muted" })], { width, first }),
  );
}
