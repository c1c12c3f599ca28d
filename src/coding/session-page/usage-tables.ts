import type { Spending } from "../../core/agent/state.ts";
import type { SessionUsage } from "../../journal/session-usage.ts";
import { describeDuration } from "../../tools/shell/report.ts";

/** Rows below a header. */
export type Table = readonly (readonly string[])[];

/** Usage and cost by model, and calls by tool, each below its header. */
export function usageTables({ models, tools, total }: SessionUsage): readonly [models: Table, tools: Table] {
  const rows = Object.entries(models);
  if (rows.length > 1) rows.push(["all", total]);
  return [
    [
      ["model", "requests", "input", "cached", "hits", "output", "cost", "time"],
      ...rows.map(([name, used]) => [name, ...modelCells(used)]),
    ],
    [
      ["tool", "calls", "errors", "refused", "time", "a call"],
      ...Object.entries(tools).map(([name, { calls, failed, refused, durationMs }]) => {
        const times = [describeDuration(durationMs), describeDuration(durationMs / calls)];
        return [name, ...[calls, failed, refused].map(String), ...times];
      }),
    ],
  ];
}

/** Part of the input that came from the provider's cache; `null` without input. */
export function hitRate({ usage: { inputTokens, cacheReadTokens = 0 } }: Spending): number | null {
  return inputTokens === 0 ? null : Math.round((cacheReadTokens / inputTokens) * 1_000) / 1_000;
}

function modelCells(used: Spending): readonly string[] {
  const rate = hitRate(used);
  return [
    String(used.requests),
    String(used.usage.inputTokens),
    String(used.usage.cacheReadTokens ?? 0),
    rate === null ? "-" : `${Math.round(rate * 100)}%`,
    String(used.usage.outputTokens),
    used.costUsd === undefined ? "unknown" : `$${used.costUsd.toFixed(4)}`,
    describeDuration(used.durationMs),
  ];
}
