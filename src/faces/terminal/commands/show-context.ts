import { counted } from "../../../core/base/text.ts";
import { type Line, line, span } from "../paint/line.ts";
import type { Marks, Role } from "../paint/theme.ts";
import { costText, tokensText } from "../views/amounts.ts";
import type { Control } from "./control.ts";

const CELLS_PER_ROW = 20;
const ROWS = 5;
/** Below so many columns the cells stand without gaps, or there are none. */
const GAPS_FROM = 44;
const CELLS_FROM = 24;
const LEGEND_COLUMNS = 30;

/**
 * Draws what fills the context window: one cell for each hundredth of it. How much there is the provider has
 * counted; how it is shared among the parts is an estimate, scaled to that.
 */
export function showContext(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  const { usedTokens: used, windowTokens, parts: estimated } = session.stats().context;
  const { marks, width } = control.screen.context;
  const window = windowTokens ?? Math.max(used, 1);
  const sum = estimated.system + estimated.tools + estimated.messages;
  const parts = (
    [
      ["system prompt", estimated.system, "accent"],
      ["tools", estimated.tools, "plan"],
      ["messages", estimated.messages, "good"],
    ] as const
  ).map(([label, tokens, role]) => ({ label, role, tokens: sum === 0 ? 0 : (tokens / sum) * used }));
  const title =
    windowTokens === undefined
      ? `${tokensText(used)} tokens; the window of this model is unknown`
      : `${tokensText(used)} of ${tokensText(window)} tokens (${Math.round((100 * used) / window)}%)`;
  const legend: readonly Line[] = [
    line(title, { bold: true }),
    ...parts.map(
      ({ label, tokens, role }): Line => [
        span(`${marks.full} `, { role }),
        span(`${label}  ~${tokensText(tokens)}`),
      ],
    ),
    ...(windowTokens === undefined
      ? []
      : [line(`${marks.empty} free  ${tokensText(Math.max(0, window - used))}`, { role: "muted" })]),
  ];
  const grid = width < CELLS_FROM ? [] : cellRows(parts, { window, width, marks });
  const isBeside = width >= GAPS_FROM + LEGEND_COLUMNS;
  control.print(
    isBeside
      ? grid.map((row, index): Line => [...row, span("  "), ...(legend[index] ?? [])])
      : [...grid, ...legend.map((row): Line => [span("  "), ...row])],
  );
}

interface Grid {
  readonly window: number;
  readonly width: number;
  readonly marks: Marks;
}

function cellRows(
  parts: readonly { readonly tokens: number; readonly role: Role }[],
  { window, width, marks }: Grid,
): readonly Line[] {
  const total = CELLS_PER_ROW * ROWS;
  const cells: readonly Role[] = parts.flatMap(({ tokens, role }) =>
    Array.from({ length: tokens === 0 ? 0 : Math.max(1, Math.round((tokens / window) * total)) }, () => role),
  );
  const gap = width < GAPS_FROM ? "" : " ";
  return Array.from(
    { length: ROWS },
    (_, row): Line => [
      span("  "),
      ...Array.from({ length: CELLS_PER_ROW }, (_each, column) => {
        const role = cells[row * CELLS_PER_ROW + column];
        return role === undefined
          ? span(`${marks.empty}${gap}`, { role: "muted" })
          : span(`${marks.full}${gap}`, { role });
      }),
    ],
  );
}

/** Tokens and money of the session, by model. */
export function showCost(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  const { cost, models, runs, turns, toolCalls } = session.stats();
  control.print([
    line(
      `  ${costText(cost)}  for ${counted(runs, "run")}, ${counted(turns, "request")}, ${counted(toolCalls, "call")}`,
      { bold: true },
    ),
    ...models.map(({ model, usage, costUsd }) =>
      line(
        `  ${model}  ${costText(costUsd)}  ${tokensText(usage.inputTokens)} in (${tokensText(usage.cacheReadTokens ?? 0)} from the cache), ${tokensText(usage.outputTokens)} out`,
        { role: "muted" },
      ),
    ),
  ]);
}
