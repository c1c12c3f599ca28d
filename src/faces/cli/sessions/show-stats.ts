import type { Spending } from "../../../core/agent/state.ts";
import { counted } from "../../../core/base/text.ts";
import { type SessionUsage, sessionUsage } from "../../../journal/session-usage.ts";
import { readSession } from "../../../session/read-session.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import { describeDuration } from "../../../tools/shell/report.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { SessionCall } from "../command-call.ts";
import { answer } from "../command-context.ts";

/** Writes what a session has used up: time, tokens, cache hits and cost, by model and by tool. */
export function showStats(call: SessionCall, { path }: SessionFile): number {
  const { sessionId, setAside, entries } = readSession(path);
  const stats = sessionUsage([...setAside, ...entries]);
  answer(call.context, call, {
    json: () => asJson(sessionId, stats),
    text: () => asText(sessionId, stats),
  });
  return EXIT.done;
}

function asJson(sessionId: string, stats: SessionUsage): object {
  const { models, tools, total, runs, runMs, toolMs, stopReason } = stats;
  return {
    session_id: sessionId,
    runs,
    stop_reason: stopReason ?? null,
    time: { run_ms: runMs, model_ms: total.durationMs, tool_ms: toolMs },
    total: modelJson(total),
    models: mapped(models, modelJson),
    tools: mapped(tools, ({ calls, failed, refused, durationMs }) => ({
      calls,
      errors: failed,
      refused,
      duration_ms: durationMs,
    })),
  };
}

function modelJson(used: Spending): object {
  return {
    requests: used.requests,
    interrupted: used.interrupted,
    input_tokens: used.usage.inputTokens,
    cache_read_tokens: used.usage.cacheReadTokens ?? 0,
    cache_write_tokens: used.usage.cacheWriteTokens ?? 0,
    cache_hit_rate: hitRate(used),
    output_tokens: used.usage.outputTokens,
    cost_usd: used.costUsd ?? null,
    duration_ms: used.durationMs,
  };
}

function mapped<T>(values: { readonly [key: string]: T }, map: (value: T) => object): object {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

function asText(sessionId: string, stats: SessionUsage): string {
  const times = `models ${describeDuration(stats.total.durationMs)}, tools ${describeDuration(stats.toolMs)}`;
  const runs = `${counted(stats.runs, "run")}, ${describeDuration(stats.runMs)}`;
  return `${sessionId}: ${runs} (${times})\n\n${usageText(stats)}`;
}

/** The tables of what a session has used up. */
export function usageText(stats: SessionUsage): string {
  const tables = usageTables(stats).filter((rows) => rows.length > 1);
  return tables.map((rows) => `${table(rows).join("\n")}\n`).join("\n");
}

/** Rows with their columns aligned: the first to the left, figures to the right. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const safe = rows.map((cells) => cells.map((cell) => terminalLine(cell, 60)));
  const widths = (safe[0] ?? []).map((_, at) => Math.max(...safe.map((cells) => cells[at]?.length ?? 0)));
  return safe.map(([name = "", ...figures]) => {
    const aligned = figures.map((cell, at) => cell.padStart(widths[at + 1] ?? 0));
    return [name.padEnd(widths[0] ?? 0), ...aligned].join("  ");
  });
}

/** Rows below a header. */
type Table = readonly (readonly string[])[];

/** Usage and cost by model, and calls by tool, each below its header. */
function usageTables({ models, tools, total }: SessionUsage): readonly [models: Table, tools: Table] {
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
function hitRate({ usage: { inputTokens, cacheReadTokens = 0 } }: Spending): number | null {
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
