import { counted } from "../../../core/base/text.ts";
import { columnsOf } from "../../text/columns.ts";
import { type Line, line, span } from "../paint/line.ts";
import type { Style } from "../paint/theme.ts";
import { costText, tokensText } from "../views/amounts.ts";
import type { Control } from "./control.ts";

const MOST_COLUMNS = 100;
/** Below so many columns each part has a row of its own. */
const PAIRS_FROM = 70;

interface Part {
  readonly label: string;
  readonly tokens: number;
  readonly style: Style;
}

/**
 * Draws what fills the context window. How much there is the provider has counted; how it is shared among the
 * parts is an estimate, scaled to that.
 */
export function showContext(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  const { usedTokens: used, windowTokens, parts } = session.stats().context;
  const { marks, width } = control.screen.context;
  const { system, tools, messages, results, answers } = parts;
  const sum = Math.max(1, system + tools + messages);
  const shares: readonly Part[] = [
    { label: "instructions and tools", tokens: system + tools, style: { role: "muted" } as const },
    { label: "tool results", tokens: results, style: { role: "trace-ran" } as const },
    { label: "your messages", tokens: Math.max(0, messages - results - answers), style: { bold: true } },
    { label: "answers", tokens: answers, style: { role: "trace-edit" } as const },
  ].map((part) => ({ ...part, tokens: (part.tokens / sum) * used }));
  const columns = Math.min(MOST_COLUMNS, width);
  const window = Math.max(windowTokens ?? used, used, 1);
  let left = columns;
  const bar = shares.map(({ tokens, style }) => {
    const cells = Math.min(left, tokens < 0.5 ? 0 : Math.max(1, Math.round((tokens / window) * columns)));
    left -= cells;
    return span(marks.full.repeat(cells), style);
  });
  const of =
    windowTokens === undefined
      ? "; the window of this model is unknown"
      : ` of ${tokensText(windowTokens)} tokens, ${Math.round((100 * used) / windowTokens)}%`;
  const entries = shares.map(({ label, tokens, style }): Line => {
    const amount = span(tokensText(tokens).padStart(30 - columnsOf(label)), { role: "muted" });
    return [span(marks.full, style), span(` ${label}`), amount];
  });
  const [first = [], second = [], third = [], fourth = []] = entries;
  const legend =
    width < PAIRS_FROM
      ? entries
      : [
          [...first, span("     "), ...second],
          [...third, span("     "), ...fourth],
        ];
  control.print([
    [span("Context", { bold: true }), span(`  ${tokensText(used)}${of}`)],
    [...bar, span(marks.empty.repeat(left), { role: "rule" })],
    ...legend,
    line("/compact frees space; it runs by itself near the end.", { role: "muted" }),
  ]);
}

/** Tokens and money of the session, by model. */
export function showCost(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  const { dot } = control.screen.context.marks;
  const { cost, models, runs, turns, toolCalls } = session.stats();
  const counts = [counted(runs, "run"), counted(turns, "request"), counted(toolCalls, "call")];
  control.print([
    [span("Cost", { bold: true }), span(`  ${[costText(cost), ...counts].join(` ${dot} `)}`)],
    ...models.map(({ model, usage: { inputTokens, cacheReadTokens = 0, outputTokens }, costUsd }) => {
      const cached = cacheReadTokens === 0 ? "" : `, ${tokensText(cacheReadTokens)} of it cached`;
      const tokens = `${tokensText(inputTokens)} in${cached}, ${tokensText(outputTokens)} out`;
      return [span(model), span(`  ${costText(costUsd)}  ${tokens}`, { role: "muted" })];
    }),
  ]);
}
