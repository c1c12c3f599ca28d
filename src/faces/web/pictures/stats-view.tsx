import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { omitUndefined } from "../../../core/base/json.ts";
import type { ServerStats, StatsFilter, StatsRow } from "../../../server/server-api.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { type Formats, useFormats, useLanguage, useWords } from "../language/language.ts";
import { folderName } from "../sessions/live-sessions.ts";
import { Button, Segments } from "../text/controls.tsx";
import { Skeleton, useLoaded, useReader, useWork, WorkLine } from "../work.tsx";
import { Columns, Dot, percentText, svgPercent, Table } from "./chart-parts.tsx";

/** Days of a period for statistics; 0: all. */
const PERIODS = [7, 30, 0] as const;
type Period = (typeof PERIODS)[number];

const FIGURES = ["cost", "tokens", "runs"] as const;
type Figure = (typeof FIGURES)[number];

type Filter = Pick<StatsFilter, "model" | "cwd">;

interface PeriodStats {
  readonly days: ServerStats;
  readonly models: ServerStats;
  readonly folders: ServerStats;
  /** The figures of the previous period; absent for all. */
  readonly previous?: StatsRow | undefined;
}

export function Statistics(): VNode {
  const reader = useReader();
  const work = useWork();
  const [period, setPeriod] = useState<Period>(30);
  const [filter, setFilter] = useState<Filter>({});
  const span = period === 0 ? undefined : ([dayAgo(period - 1), dayAgo(0)] as const);
  const stats = useLoaded(
    () =>
      work.attempt(async (): Promise<PeriodStats> => {
        const from = omitUndefined({ from: span?.[0] });
        const earlier = { ...filter, from: dayAgo(2 * period - 1), to: dayAgo(period) };
        const [days, models, folders, previous] = await Promise.all([
          reader.stats("day", { ...filter, ...from }),
          reader.stats("model", { ...omitUndefined({ cwd: filter.cwd }), ...from }),
          reader.stats("cwd", { ...omitUndefined({ model: filter.model }), ...from }),
          span && reader.stats("day", earlier),
        ]);
        return { days, models, folders, previous: previous?.total };
      }),
    [period, filter],
  );
  return (
    <div class="scroll">
      <div class="wide">
        <WorkLine work={work} />
        {stats === undefined ? (
          work.announcement === undefined && <Skeleton />
        ) : (
          <StatsView {...{ stats, period, span, filter, setPeriod, setFilter }} />
        )}
      </div>
    </div>
  );
}

/** The key of the day `days` days ago: `2026-01-31`. */
function dayAgo(days: number): string {
  const date = new Date();
  date.setDate(date.getDate() - days);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

interface StatsProps {
  readonly stats: PeriodStats;
  readonly period: Period;
  /** First and last day of the chart: `2026-01-31`. Default: those of the rows. */
  readonly span?: readonly [from: string, to: string] | undefined;
  readonly filter: Filter;
  readonly setPeriod: (period: Period) => void;
  readonly setFilter: (filter: Filter) => void;
}

export function StatsView({ stats, period, span, filter, setPeriod, setFilter }: StatsProps): VNode {
  const { words, money } = useLanguage();
  const { total } = stats.days;
  const runs: StatsColumn = [words.figures.runs, ({ runs }, { count }) => count(runs)];
  const cost: StatsColumn = [words.cost, (row) => <Cost row={row} />];
  return (
    <section class="picture" aria-label={words.statistics}>
      <div class="hd big">
        <h1>{words.statistics}</h1>
        <span class="end">
          <Segments
            label={words.period}
            options={PERIODS}
            nameOf={(each) => words.days[each]}
            value={period}
            choose={setPeriod}
          />
        </span>
      </div>
      {total.runs === 0 && total.inputTokens === 0 ? (
        <p class="dim">{words.nothingYet}</p>
      ) : (
        <>
          <Figures total={total} before={stats.previous} />
          <Days stats={stats} span={span} />
          <div class="two">
            <Shares
              title={words.models}
              rows={stats.models.rows}
              columns={[
                runs,
                [words.cache, ({ cacheShare }) => (cacheShare > 0 ? percentText(cacheShare, 1) : "—")],
                cost,
              ]}
              dotOf={({ key }) => modelClass(stats, key)}
              nameOf={(key) => key.replace(/^[^/]*\//, "")}
              chosen={filter.model}
              choose={(model) => setFilter(omitUndefined({ ...filter, model }))}
            />
            <Shares
              title={words.folders}
              rows={stats.folders.rows}
              columns={[runs, [words.failedShort, ({ failures }, { count }) => count(failures)], cost]}
              nameOf={folderName}
              chosen={filter.cwd}
              choose={(cwd) => setFilter(omitUndefined({ ...filter, cwd }))}
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

function Figures({
  total,
  before,
}: {
  readonly total: StatsRow;
  readonly before: StatsRow | undefined;
}): VNode {
  const { words, count, money, stopwatch, duration } = useLanguage();
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
        figure(words.activities.asking, stopwatch(askedMs), words.perQuestion(duration(askedMs / asked)))}
    </dl>
  );
}

function Cost({ row }: { readonly row: StatsRow }): VNode {
  const { words, money, count } = useLanguage();
  const { cost, unpriced, inputTokens, outputTokens } = row;
  if (inputTokens + outputTokens === 0) return <>—</>;
  if (cost === null) return <abbr title={words.noPrice}>—</abbr>;
  if (unpriced === 0) return <>{money(cost)}</>;
  return <abbr title={words.unpriced(count(unpriced))}>{money(cost)}+</abbr>;
}

/** The colour of a model: the three largest have their own. */
function modelClass({ models }: PeriodStats, model: string): string {
  const at = models.rows.findIndex(({ key }) => key === model);
  return `c${at < 0 ? 3 : Math.min(at, 2) + 1}`;
}

const DAY_MS = 86_400_000;
/** Maximum days drawn, the newest. */
const MAX_DAYS = 92;
const MIN_DAYS = 7;

function daysBetween(from: string, to: string): readonly string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  if (!(last >= first)) return [];
  const all = Math.round((last - first) / DAY_MS) + 1;
  const shown = Math.max(MIN_DAYS, Math.min(MAX_DAYS, all));
  return Array.from({ length: shown }, (_none, at) =>
    new Date(last - (shown - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
}

function Days({ stats, span }: Pick<StatsProps, "stats" | "span">): VNode {
  const { words, money, count, date } = useLanguage();
  const [figure, setFigure] = useState<Figure>(stats.days.total.cost === null ? "tokens" : "cost");
  const rows = new Map(stats.days.rows.map((row) => [row.key, row]));
  const keys = [...rows.keys()].filter((key) => !Number.isNaN(Date.parse(key)));
  const days = daysBetween(span?.[0] ?? keys.at(-1) ?? "", span?.[1] ?? keys[0] ?? "");
  const labelStep = Math.max(1, Math.round(days.length / 4));
  const last = days.length - 1;
  const text = figure === "cost" ? money : count;
  const columns = days.map((day, at) => {
    const parts = (rows.get(day)?.models ?? [])
      .map((part) => [modelClass(stats, part.model), part[figure] ?? 0] as const)
      .filter(([, value]) => value > 0)
      .sort(([left], [right]) => (left < right ? -1 : 1));
    const sum = text(parts.reduce((all, [, value]) => all + value, 0));
    const isNamed = at === last || (at % labelStep === 0 && last - at >= 0.8 * labelStep);
    const label = isNamed ? date(Date.parse(day)) : undefined;
    return { title: `${date(Date.parse(day))}: ${sum}`, parts, label, said: `${day} ${sum}` };
  });
  const title = words.perDay(words.figures[figure]);
  const spokenDays = columns.filter(({ parts }) => parts.length > 0).map((column) => column.said);
  return (
    <section>
      <div class="hd">
        <h2>{title}</h2>
        <span class="end">
          <Segments
            label={words.figure}
            options={FIGURES}
            nameOf={(each) => words.figures[each]}
            value={figure}
            choose={setFigure}
          />
        </span>
      </div>
      <div class="chart plot">
        <Columns
          columns={columns}
          least={days.length}
          height={200}
          tickText={text}
          name={`${title}: ${spokenDays.join(", ")}`}
        />
      </div>
    </section>
  );
}

const MAX_FOLDED_ROWS = 8;

type StatsColumn = readonly [name: string, cell: (row: StatsRow, formats: Formats) => VNode | string];

interface SharesProps {
  readonly title: string;
  readonly rows: readonly StatsRow[];
  readonly columns: readonly StatsColumn[];
  readonly dotOf?: (row: StatsRow) => string;
  readonly nameOf: (key: string) => string;
  readonly chosen: string | undefined;
  readonly choose: (key: string | undefined) => void;
}

/** Models or folders with their share; choosing a row filters by it. */
function Shares({ title, rows, columns, dotOf, nameOf, chosen, choose }: SharesProps): VNode {
  const words = useWords();
  const formats = useFormats();
  const [isWhole, setWhole] = useState(false);
  const byCost = rows.some(({ cost }) => (cost ?? 0) > 0);
  const weight = (row: StatsRow): number => (byCost ? (row.cost ?? 0) : row.inputTokens + row.outputTokens);
  const all = rows.reduce((sum, row) => sum + weight(row), 0);
  return (
    <section>
      <Table
        title={title}
        rows={isWhole ? rows : rows.slice(0, MAX_FOLDED_ROWS)}
        isOn={({ key }) => key === chosen}
        columns={[
          {
            head: "",
            look: "wrap",
            cell: (row) => (
              <>
                {dotOf !== undefined && <Dot kind={dotOf(row)} />}
                <button
                  type="button"
                  class="link cut"
                  title={row.key}
                  aria-pressed={row.key === chosen}
                  onClick={() => choose(row.key === chosen ? undefined : row.key)}
                >
                  {terminalLine(nameOf(row.key), 60) || "—"}
                </button>
              </>
            ),
          },
          {
            head: words.share,
            isBare: true,
            look: "barc",
            cell: (row) => (
              <svg width="100%" height="6" role="img" aria-label={percentText(weight(row), all)}>
                <rect class="trk" width="100%" height="6" rx="3" />
                <rect
                  class={dotOf?.(row) ?? "c0"}
                  width={svgPercent(all === 0 ? 0 : (100 * weight(row)) / all)}
                  height="6"
                  rx="3"
                />
              </svg>
            ),
          },
          ...columns.map(([head, cell]) => ({
            head,
            look: "r",
            cell: (row: StatsRow) => cell(row, formats),
          })),
        ]}
      />
      {!isWhole && rows.length > MAX_FOLDED_ROWS && (
        <Button look="bare small" onClick={() => setWhole(true)}>
          {words.more}
        </Button>
      )}
    </section>
  );
}
