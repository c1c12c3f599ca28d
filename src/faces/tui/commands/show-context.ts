import { counted } from "../../../core/base/text.ts";
import { type Line, line, span } from "../paint/line.ts";
import type { Role } from "../paint/theme.ts";
import { costText, tokensText } from "../views/amounts.ts";
import type { Control } from "./control.ts";

const CELLS_PER_ROW = 20;
const ROWS = 5;

/** Draws what fills the context window: one cell for each hundredth of it. */
export function showContext(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  const { context } = session.stats();
  const { marks } = control.screen.context;
  const window = context.windowTokens ?? Math.max(context.usedTokens, 1);
  const parts: readonly (readonly [label: string, tokens: number, role: Role])[] = [
    ["system prompt", context.parts.system, "accent"],
    ["tools", context.parts.tools, "plan"],
    ["messages", context.parts.messages, "good"],
  ];
  const total = CELLS_PER_ROW * ROWS;
  const cells: Role[] = parts.flatMap(([, tokens, role]) =>
    Array.from({ length: tokens === 0 ? 0 : Math.max(1, Math.round((tokens / window) * total)) }, () => role),
  );
  const free = context.windowTokens === undefined ? undefined : Math.max(0, window - context.usedTokens);
  const legend: readonly Line[] = [
    line(
      context.windowTokens === undefined
        ? `${tokensText(context.usedTokens)} tokens; the window of this model is unknown`
        : `${tokensText(context.usedTokens)} of ${tokensText(window)} tokens (${Math.round((100 * context.usedTokens) / window)}%)`,
      { bold: true },
    ),
    ...parts.map(
      ([label, tokens, role]): Line => [
        span(`${marks.full} `, { role }),
        span(`${label}  ${tokensText(tokens)}`),
      ],
    ),
    ...(free === undefined ? [] : [line(`${marks.empty} free  ${tokensText(free)}`, { role: "muted" })]),
  ];
  const rows = Array.from({ length: ROWS }, (_, row): Line => {
    const grid = Array.from({ length: CELLS_PER_ROW }, (_each, column) => {
      const role = cells[row * CELLS_PER_ROW + column];
      return role === undefined
        ? span(`${marks.empty} `, { role: "muted" })
        : span(`${marks.full} `, { role });
    });
    return [span("  "), ...grid, span("  "), ...(legend[row] ?? [])];
  });
  control.print(rows);
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
