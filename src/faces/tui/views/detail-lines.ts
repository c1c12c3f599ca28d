import type { ViewItem } from "../../../app/coding-session/view.ts";
import { type Line, line, span, textLines, wrapLine } from "../paint/line.ts";
import { itemLines } from "./item-lines.ts";
import type { ViewContext } from "./view-context.ts";

/** Items that details are shown of: the newest. */
const MOST = 100;

/** Calls with their arguments and the end of their output, and thinking, unfolded. */
export function detailLines(items: readonly ViewItem[], context: ViewContext): readonly Line[] {
  const unfolded = { ...context, details: true };
  const rows = items
    .slice(-MOST)
    .filter(({ type }) => type === "tool" || type === "thinking" || type === "user")
    .flatMap((item) => [...itemLines(item, unfolded, undefined), ...argumentsOf(item, context), []]);
  return rows.length === 0 ? [line("No calls and no thinking so far.", { role: "muted" })] : rows;
}

function argumentsOf(item: ViewItem, { width }: ViewContext): readonly Line[] {
  if (item.type !== "tool" || Object.keys(item.input).length === 0) return [];
  const first = line("    ");
  return textLines(JSON.stringify(item.input, undefined, 2)).flatMap((row) =>
    wrapLine([span(row, { role: "muted" })], { width, first }),
  );
}
