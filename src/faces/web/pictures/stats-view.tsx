import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { defined } from "../../../core/base/json.ts";
import type { ServerStats, StatsFilter, StatsRow } from "../../../server/server-api.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { type Formats, useFormats, useWords, type Words } from "../language/language.ts";
import { folderName } from "../sessions/live-sessions.ts";
import { Button } from "../text/controls.tsx";
import { percentText, place, stacked, ticksUpTo } from "./figures.ts";
import { Dot } from "./timeline-view.tsx";

/** Days of a period that statistics can be about; 0: all. */
export const PERIODS = [7, 30, 0] as const;

/** One of the periods. */
export type Period = (typeof PERIODS)[number];

/** Statistics of a period, by day, by model and by folder. */
export interface PeriodStats {
  readonly days: ServerStats;
  readonly models: ServerStats;
  readonly folders: ServerStats;
  /** Of the period before it; absent for all. */
  readonly before?: StatsRow | undefined;
}

/** Options of {@link StatsView}. */
export interface StatsProps {
  readonly stats: PeriodStats;
  readonly period: Period;
  /** First and last day of the chart: `2026-01-31`. Default: those of the rows. */
  readonly span?: readonly [from: string, to: string] | undefined;
  readonly filter: Pick<StatsFilter, "model" | "cwd">;
  readonly setPeriod: (period: Period) => void;
  readonly setFilter: (filter: Pick<StatsFilter, "model" | "cwd">) => void;
}

const FIGURES = ["cost", "tokens", "runs"] as const;
type Figure = (typeof FIGURES)[number];

/** Statistics over sessions. */
export function StatsView({ stats, period, span, filter, setPeriod, setFilter }: StatsProps): VNode {
  const words = useWords();
  const { money } = useFormats();
  const { total } = stats.days;
  return (
    <section class="picture" aria-label={words.statistics}>
      <div class="hd big">
        <h1>{words.statistics}</h1>
        <span class="end">
          <Segments
            label={words.period}
            options={PERIODS}
            nameOf={words.days}
            value={period}
            choose={setPeriod}
          />
        </span>
      </div>
      {total.runs === 0 && total.inputTokens === 0 ? (
        <p class="dim">{words.nothingYet}</p>
      ) : (
        <>
          <Figures total={total} before={stats.before} />
          <Days stats={stats} span={span} />
          <div class="two">
            <Table
              title={words.models}
              stats={stats.models}
              columns={[
                [words.figures.runs, ({ runs }, { count }) => count(runs)],
                [words.cache, ({ cacheShare }) => (cacheShare > 0 ? percentText(cacheShare, 1) : "—")],
                [words.cost, (row) => <Cost row={row} />],
              ]}
              dotOf={(key) =>
                stats.models.rows.find((row) => row.key === key)?.cost === null
                  ? "none"
                  : modelClass(stats, key)
              }
              nameOf={(key) => terminalLine(key.replace(/^[^/]*\//, ""), 60)}
              chosen={filter.model}
              choose={(model) => setFilter(defined({ ...filter, model }))}
            />
            <Table
              title={words.folders}
              stats={stats.folders}
              columns={[
                [words.figures.runs, ({ runs }, { count }) => count(runs)],
                [words.failedShort, ({ failures }, { count }) => count(failures)],
                [words.cost, (row) => <Cost row={row} />],
              ]}
              nameOf={(key) => terminalLine(folderName(key), 60)}
              chosen={filter.cwd}
              choose={(cwd) => setFilter(defined({ ...filter, cwd }))}
            />
          </div>
          {total.unpriced > 0 && total.cost !== null && (
            <p class="dim">{words.unpricedNote(total.unpriced, money(total.cost))}</p>
          )}
        </>
      )}
    </section>
  );
}

interface SegmentsProps<T extends string | number> {
  readonly label: string;
  readonly options: readonly T[];
  readonly nameOf: { readonly [O in T]: string };
  readonly value: T;
  readonly choose: (option: T) => void;
}

function Segments<T extends string | number>({
  label,
  options,
  nameOf,
  value,
  choose,
}: SegmentsProps<T>): VNode {
  return (
    <span class="seg" role="group" aria-label={label}>
      {options.map((option) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => choose(option)}>
          {nameOf[option]}
        </button>
      ))}
    </span>
  );
}

function Figures({
  total,
  before,
}: {
  readonly total: StatsRow;
  readonly before: StatsRow | undefined;
}): VNode {
  const words = useWords();
  const { count, money, stopwatch, duration } = useFormats();
  const { cost, sessions, runs, inputTokens, outputTokens, cacheShare, failures } = total;
  const { added, removed, asked, askedMs, unpriced } = total;
  const figure = (name: string, value: ComponentChildren, more: string): VNode => (
    <div class="fig">
      <dt>{name}</dt>
      <dd>{value}</dd>
      <span class="dim num">{more}</span>
    </div>
  );
  const costMore =
    unpriced > 0
      ? words.unpriced(count(unpriced))
      : before?.cost != null && before.runs > 0
        ? words.costBefore((cost ?? 0) >= before.cost, money(before.cost))
        : "";
  return (
    <dl class="figs">
      {figure(words.cost, <Cost row={total} />, costMore)}
      {figure(words.sessions, count(sessions), words.runs(count(runs)))}
      {figure(
        words.tokensColumn,
        count(inputTokens + outputTokens),
        words.fromCache(percentText(cacheShare, 1)),
      )}
      {figure(words.lines, `+${count(added)}`, `−${count(removed)}`)}
      {figure(words.failedRuns, percentText(failures, runs), words.countOf(failures, runs))}
      {asked > 0 &&
        figure(words.shares.asking, stopwatch(askedMs), words.perQuestion(duration(askedMs / asked)))}
    </dl>
  );
}

/** The known cost; a dash with an explanation when nothing is known. */
function Cost({ row: { cost, unpriced } }: { readonly row: Pick<StatsRow, "cost" | "unpriced"> }): VNode {
  const words = useWords();
  const { money, count } = useFormats();
  if (cost === null) return <abbr title={words.noPrice}>—</abbr>;
  if (unpriced === 0) return <>{money(cost)}</>;
  return <abbr title={words.unpriced(count(unpriced))}>{money(cost)}+</abbr>;
}

/** The shade of a model: the three largest have their own. */
function modelClass({ models }: PeriodStats, model: string): string {
  const at = models.rows.findIndex(({ key }) => key === model);
  return `c${at < 0 ? 3 : Math.min(at, 2) + 1}`;
}

const DAY_MS = 86_400_000;
/** Days that are drawn at most: the newest. */
const MAX_DAYS = 92;
const MIN_DAYS = 7;

/** The days from one to another, as their keys. */
function daysBetween(from: string, to: string): readonly string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  if (!(last >= first)) return [];
  const all = Math.round((last - first) / DAY_MS) + 1;
  const shown = Math.max(MIN_DAYS, Math.min(MAX_DAYS, all));
  return Array.from({ length: shown }, (_none, at) =>
    new Date(last - (shown - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
}

function Days({ stats, span }: { readonly stats: PeriodStats; readonly span: StatsProps["span"] }): VNode {
  const words = useWords();
  const formats = useFormats();
  const [figure, setFigure] = useState<Figure>(stats.days.total.cost === null ? "tokens" : "cost");
  const rows = new Map(stats.days.rows.map((row) => [row.key, row]));
  const keys = stats.days.rows.map(({ key }) => key).filter((key) => !Number.isNaN(Date.parse(key)));
  const days = daysBetween(span?.[0] ?? keys.at(-1) ?? "", span?.[1] ?? keys[0] ?? "");
  const partsOf = (day: string): readonly (readonly [model: string, value: number])[] =>
    (rows.get(day)?.models ?? []).map((part) => [part.model, part[figure] ?? 0] as const);
  const sumOf = (day: string): number => partsOf(day).reduce((sum, [, value]) => sum + value, 0);
  const most = days.reduce((all, day) => Math.max(all, sumOf(day)), 0);
  const ticks = ticksUpTo(most, 3);
  const y = (value: number): number => Number((168 - (most === 0 ? 0 : (148 * value) / most)).toFixed(1));
  const step = 100 / Math.max(1, days.length);
  const valueText = (value: number): string => figureText(value, figure, formats);
  return (
    <section>
      <div class="hd">
        <h2>{words.perDay(words.figures[figure])}</h2>
        <span class="end">
          <Segments
            label={words.figure}
            options={FIGURES}
            nameOf={words.figures}
            value={figure}
            choose={setFigure}
          />
        </span>
      </div>
      <div class="chart plot">
        <svg
          width="100%"
          height="200"
          role="img"
          aria-label={chartText(days, sumOf, { words, figure, valueText })}
        >
          {ticks.map((tick) => (
            <g key={tick}>
              <line class="grid-l" x1="0" x2="100%" y1={y(tick)} y2={y(tick)} />
              {tick > 0 && (
                <text x="0" y={y(tick) - 6}>
                  {valueText(tick)}
                </text>
              )}
            </g>
          ))}
          {days.map((day, at) => (
            <g key={day}>
              <title>{`${formats.date(Date.parse(day))}: ${valueText(sumOf(day))}`}</title>
              <rect class="hit" x={place(at * step)} y="0" width={place(step)} height="168" />
              <DayBars parts={partsOf(day)} x={at * step} step={step} y={y} stats={stats} />
            </g>
          ))}
          <DayNames days={days} step={step} />
        </svg>
      </div>
    </section>
  );
}

function figureText(value: number, figure: Figure, { money, count }: Formats): string {
  return figure === "cost" ? money(value) : count(value);
}

/** The chart in words: each day on which something happened. */
function chartText(
  days: readonly string[],
  sumOf: (day: string) => number,
  {
    words,
    figure,
    valueText,
  }: { readonly words: Words; readonly figure: Figure; readonly valueText: (value: number) => string },
): string {
  const all = days.filter((day) => sumOf(day) > 0).map((day) => `${day} ${valueText(sumOf(day))}`);
  return `${words.perDay(words.figures[figure])}: ${all.join(", ")}`;
}

interface DayBarsProps {
  readonly parts: readonly (readonly [model: string, value: number])[];
  readonly x: number;
  readonly step: number;
  readonly y: (value: number) => number;
  readonly stats: PeriodStats;
}

function DayBars({ parts, x, step, y, stats }: DayBarsProps): VNode {
  const sorted = parts
    .filter(([, value]) => value > 0)
    .map(([model, value]) => ({ shade: modelClass(stats, model), value }))
    .sort((left, right) => (left.shade < right.shade ? -1 : 1));
  return (
    <>
      {stacked(sorted.map(({ value }) => value)).map(([from, to], at) => (
        <rect
          key={at}
          class={sorted[at]?.shade}
          x={place(x + step * 0.14)}
          y={y(to)}
          width={place(step * 0.72)}
          height={Math.max(0.6, Number((y(from) - y(to) - (from > 0 || at === 0 ? 1 : 0)).toFixed(1)))}
          rx="1.5"
        />
      ))}
    </>
  );
}

/** The names of about five days. */
function DayNames({ days, step }: { readonly days: readonly string[]; readonly step: number }): VNode {
  const { date } = useFormats();
  const every = Math.max(1, Math.round(days.length / 4));
  const last = days.length - 1;
  return (
    <>
      {days.map((day, at) => {
        const isLast = at === last;
        if (!isLast && (at % every !== 0 || last - at < every / 2)) return null;
        return (
          <text
            key={day}
            x={isLast ? "99.3%" : place(at * step + step * 0.14)}
            y="188"
            text-anchor={isLast ? "end" : undefined}
          >
            {date(Date.parse(day))}
          </text>
        );
      })}
    </>
  );
}

const FIRST_ROWS = 8;

interface TableProps {
  readonly title: string;
  readonly stats: ServerStats;
  readonly columns: readonly (readonly [
    name: string,
    cell: (row: StatsRow, formats: Formats) => VNode | string,
  ])[];
  readonly dotOf?: (key: string) => string;
  readonly nameOf: (key: string) => string;
  readonly chosen: string | undefined;
  readonly choose: (key: string | undefined) => void;
}

/** Models or folders with their share; a row shows only what belongs to it. */
function Table({ title, stats: { rows }, columns, dotOf, nameOf, chosen, choose }: TableProps): VNode {
  const words = useWords();
  const formats = useFormats();
  const [isWhole, setWhole] = useState(false);
  const byCost = rows.some(({ cost }) => (cost ?? 0) > 0);
  const weight = (row: StatsRow): number => (byCost ? (row.cost ?? 0) : row.inputTokens + row.outputTokens);
  const all = rows.reduce((sum, row) => sum + weight(row), 0);
  const shown = isWhole ? rows : rows.slice(0, FIRST_ROWS);
  return (
    <section>
      <table class="t">
        <thead>
          <tr>
            <th class="h">
              <h2>{title}</h2>
            </th>
            <th class="barc" aria-label={words.share} />
            {columns.map(([name]) => (
              <th key={name} class="r">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.key} class={row.key === chosen ? "on" : undefined}>
              <td class="wrap">
                {dotOf !== undefined && <Dot kind={dotOf(row.key)} />}
                <button
                  type="button"
                  class="link cut"
                  title={row.key}
                  aria-pressed={row.key === chosen}
                  onClick={() => choose(row.key === chosen ? undefined : row.key)}
                >
                  {nameOf(row.key) || "—"}
                </button>
              </td>
              <td class="barc">
                <svg width="100%" height="6" role="img" aria-label={percentText(weight(row), all)}>
                  <rect class="trk" width="100%" height="6" rx="3" />
                  <rect
                    class={dotOf?.(row.key) ?? "c0"}
                    width={place(all === 0 ? 0 : (100 * weight(row)) / all)}
                    height="6"
                    rx="3"
                  />
                </svg>
              </td>
              {columns.map(([name, cell]) => (
                <td key={name} class="r">
                  {cell(row, formats)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length && (
        <Button look="bare small" onClick={() => setWhole(true)}>
          {words.more}
        </Button>
      )}
    </section>
  );
}
