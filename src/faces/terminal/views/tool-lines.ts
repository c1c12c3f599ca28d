import { counted } from "../../../core/base/text.ts";
import { withoutEnding } from "../../../view/call-text.ts";
import type { ToolItem, ViewItem } from "../../../view/view.ts";
import { fitLine, type Line, line, lineColumns, oneLine, span, textLines, wrapLine } from "../paint/line.ts";
import { costText, durationText, secondsText, tokensText } from "./amounts.ts";
import { diffLines } from "./diff-lines.ts";
import type { ViewContext } from "./view-context.ts";

/** Rows of a change before the rest is folded. */
const DIFF_ROWS = 40;
/** Rows of output that are shown of a call that runs or has ended; with details more. */
const TAIL_ROWS = 4;
const DETAIL_ROWS = 200;
/** Calls of a subagent that are shown while it works. */
const CHILD_ROWS = 3;

/**
 * A call: one line with its state, then the change it made or the end of what it wrote. Nothing while it is
 * asked about: the question is its line.
 */
export function toolLines(item: ToolItem, context: ViewContext): readonly Line[] {
  if (item.state === "asking") return [];
  const indent = item.parentCallId === undefined ? "" : "  ";
  const inner = { ...context, width: Math.max(8, context.width - indent.length - 2) };
  const body = [...agentLines(item, inner), ...bodyLines(item, inner)];
  return [headLine(item, indent, context), ...body.map((row): Line => [span(`${indent}  `), ...row])];
}

function headLine(item: ToolItem, indent: string, context: ViewContext): Line {
  const { marks, width } = context;
  const role = ROLES[item.state];
  const mark = item.state === "ok" ? marks.ok : FAILED.has(item.state) ? marks.bad : marks.tool;
  const title = titleOf(item);
  const head: Line = [
    span(indent),
    span(`${mark} `, { role }),
    span(item.name, { bold: true }),
    span(title === "" ? "" : ` ${oneLine(title)}`),
  ];
  // The room a long title leaves is at least half of the row.
  const end = fitLine(
    [span(stateText(item, context), { role: FAILED.has(item.state) ? "bad" : "muted" })],
    Math.max(Math.floor(width / 2), width - lineColumns(head) - 2),
  );
  return [...fitLine(head, Math.max(10, width - lineColumns(end) - 2)), span("  "), ...end];
}

/** The subject of a call; arguments that are no line to read are left to the details. */
function titleOf({ name, title }: ToolItem): string {
  const text = title.startsWith(name) ? title.slice(name.length).trim() : title;
  return /^[{[]/.test(text) ? "" : text;
}

const FAILED: ReadonlySet<ToolItem["state"]> = new Set(["error", "denied", "aborted"]);

const ROLES = {
  writing: "muted",
  asking: "warning",
  running: "accent",
  ok: "good",
  error: "bad",
  denied: "bad",
  aborted: "bad",
} as const;

function stateText(item: ToolItem, { now, marks }: ViewContext): string {
  const time = item.durationMs === undefined ? "" : durationText(item.durationMs);
  const brief = saysMore(item) ? oneLine(item.brief ?? "").trim() : "";
  switch (item.state) {
    case "writing":
      return marks.more;
    case "asking":
      return "";
    case "running":
      return item.startedAt === undefined ? marks.more : secondsText(now - item.startedAt);
    case "denied":
      return "refused";
    case "aborted":
      return `stopped${time === "" ? "" : ` after ${time}`}`;
    default:
      return [brief, time].filter((each) => each !== "").join(` ${marks.dot} `);
  }
}

/** True when its result in a few words is not just how the rows below begin. */
function saysMore(item: ToolItem): boolean {
  return item.state !== "error" || !tailOf(item).startsWith((item.brief ?? "").replace(/…$/, ""));
}

/** The end of a call's output, without what its first line says: failed, refused, its exit code. */
function tailOf({ tail = "" }: ToolItem): string {
  return withoutEnding(tail.replace(/^Error: (?:Tool call was not approved: )?/, ""));
}

function bodyLines(item: ToolItem, context: ViewContext): readonly Line[] {
  if (item.diff !== undefined && !FAILED.has(item.state))
    return folded(diffLines(item.diff, context), context);
  const showsTail =
    item.agent === undefined && (context.details || WITH_TAIL.has(item.name) || FAILED.has(item.state));
  const tail = tailOf(item);
  if (!showsTail || tail === "") return [];
  const rows = textLines(tail);
  const most = context.details ? DETAIL_ROWS : TAIL_ROWS;
  const style = { role: item.state === "error" ? "bad" : "muted" } as const;
  const first: readonly Line[] =
    rows.length > most
      ? [line(`${context.marks.more} ${rows.length - most} more lines`, { role: "muted" })]
      : [];
  return [...first, ...rows.slice(-most).map((row) => fitLine(line(row, style), context.width))];
}

/** Tools whose output says how it went; of others a few words do. */
const WITH_TAIL: ReadonlySet<string> = new Set(["bash"]);

function folded(rows: readonly Line[], { details, marks }: ViewContext): readonly Line[] {
  const most = details ? DETAIL_ROWS : DIFF_ROWS;
  if (rows.length <= most) return rows;
  return [
    ...rows.slice(0, most - 1),
    line(`${marks.more} ${rows.length - most + 1} more rows (/diff shows all)`, { role: "muted" }),
  ];
}

function agentLines(item: ToolItem, context: ViewContext): readonly Line[] {
  const { agent } = item;
  if (agent === undefined) return [];
  const { marks } = context;
  const calls = agent.items.filter((each): each is ToolItem => each.type === "tool");
  const spent = [
    counted(calls.length, "call"),
    `${tokensText(agent.outputTokens)} tokens`,
    costText(agent.costUsd),
  ].join(` ${marks.dot} `);
  const head: Line = [
    span(`${marks.child} `, { role: "muted" }),
    span(agent.name, { role: "accent" }),
    span(`  ${spent}`, { role: "muted" }),
  ];
  const isOver = item.state === "ok" || FAILED.has(item.state);
  const shown = context.details ? agent.items : isOver ? [] : calls.slice(-CHILD_ROWS);
  return [fitLine(head, context.width), ...shown.flatMap((each) => childLines(each, context))];
}

function childLines(item: ViewItem, context: ViewContext): readonly Line[] {
  const inner = { ...context, width: Math.max(8, context.width - 2) };
  if (item.type === "tool") {
    const rows =
      context.details || item.agent !== undefined
        ? toolLines(item, inner)
        : toolLines(item, inner).slice(0, 1);
    return rows.map((row): Line => [span("  "), ...row]);
  }
  if (item.type !== "answer") return [];
  return textLines(item.text).flatMap((row) =>
    wrapLine(line(row), { width: context.width, first: line("  ") }),
  );
}
