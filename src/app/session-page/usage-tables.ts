import type { Spending } from "../../core/agent/spending.ts";
import { describeDuration } from "../../tools/shell/report.ts";
import { type Html, html } from "./html.ts";
import type { SessionUsage } from "./session-usage.ts";

/** Usage and cost by model, and calls by tool. */
export function usageTables({ models, tools, total }: SessionUsage): Html {
  const rows = [
    ...Object.entries(models),
    ...(Object.keys(models).length > 1 ? [["all", total] as const] : []),
  ];
  return html`${
    rows.length === 0
      ? undefined
      : table(
          ["Model", "Requests", "In", "Cached", "Out", "Cost", "Time"],
          rows.map(([name, used]) => [name, ...modelCells(used)]),
        )
  }${
    Object.keys(tools).length === 0
      ? undefined
      : table(
          ["Tool", "Calls", "Errors", "Refused", "Time"],
          Object.entries(tools).map(([name, { calls, failed, refused, durationMs }]) => [
            name,
            calls,
            failed,
            refused,
            describeDuration(durationMs),
          ]),
        )
  }`;
}

function modelCells(used: Spending): readonly (string | number)[] {
  const cost = used.costUsd === undefined ? "unknown" : `$${used.costUsd.toFixed(4)}`;
  return [
    used.requests,
    used.usage.inputTokens,
    used.usage.cacheReadTokens ?? 0,
    used.usage.outputTokens,
    cost,
    describeDuration(used.durationMs),
  ];
}

function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): Html {
  return html`<div class="scroll"><table><tr>${header.map((cell) => html`<th>${cell}</th>`)}</tr>${rows.map(
    (cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  )}</table></div>`;
}
