import type { ServerStats, StatsRow } from "../../../server/server-api.ts";

/** A figure that statistics can be drawn by. */
export type StatsFigure = "cost" | "tokens" | "turns" | "runs" | "failures";

/** The figures, in the order in which they are offered. */
export const STATS_FIGURES: readonly StatsFigure[] = ["cost", "tokens", "turns", "runs", "failures"];

/** One bar of a picture of statistics. */
export interface StatsBar {
  readonly row: StatsRow;
  /** `undefined`: the price is unknown. */
  readonly value: number | undefined;
  /** Part of the largest value, 0 to 1. */
  readonly share: number;
}

/** The bars of statistics: days in order and without gaps, everything else by size. */
export function statsBars(
  { by, rows }: Pick<ServerStats, "by" | "rows">,
  figure: StatsFigure,
): readonly StatsBar[] {
  const all = by === "day" ? everyDay(rows) : rows;
  const largest = all.reduce((most, row) => Math.max(most, figureOf(row, figure) ?? 0), 0);
  const bars = all.map((row): StatsBar => {
    const value = figureOf(row, figure);
    return { row, value, share: largest === 0 ? 0 : (value ?? 0) / largest };
  });
  return by === "day" ? bars : bars.sort((left, right) => (right.value ?? -1) - (left.value ?? -1));
}

/** The value of a figure; `undefined` for an unknown price. */
export function figureOf(row: StatsRow, figure: StatsFigure): number | undefined {
  if (figure === "cost") return row.cost ?? undefined;
  if (figure === "tokens") return row.inputTokens + row.outputTokens;
  return row[figure];
}

const DAY_MS = 86_400_000;
/** The most days that are drawn although nothing happened. */
const MAX_EMPTY_DAYS = 31;

/** Rows of days in order, with those between them on which nothing happened. */
function everyDay(rows: readonly StatsRow[]): readonly StatsRow[] {
  const sorted = rows.toSorted((left, right) => (left.key < right.key ? -1 : 1));
  return sorted.flatMap((row, at) => {
    const before = Date.parse(sorted[at - 1]?.key ?? "");
    const days = Math.round((Date.parse(row.key) - before) / DAY_MS) - 1;
    if (!(days > 0 && days <= MAX_EMPTY_DAYS)) return [row];
    const empty = Array.from({ length: days }, (_none, day) =>
      emptyRow(new Date(before + (day + 1) * DAY_MS).toISOString().slice(0, 10)),
    );
    return [...empty, row];
  });
}

function emptyRow(key: string): StatsRow {
  return {
    key,
    sessions: 0,
    runs: 0,
    turns: 0,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    cacheShare: 0,
    cost: 0,
    unpriced: 0,
    failures: 0,
  };
}
