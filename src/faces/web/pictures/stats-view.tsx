import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import type { ServerStats, StatsBy, StatsRow } from "../../../server/server-api.ts";
import { type Formats, useFormats } from "../language/formats.ts";
import type { PictureWords } from "./english-pictures.ts";
import { percentText } from "./figures.ts";
import { PlainTable, type TableRow } from "./picture-table.tsx";
import { usePictureWords } from "./picture-words.ts";
import { STATS_FIGURES, type StatsBar, type StatsFigure, statsBars } from "./stats-picture.ts";
import { useWidth } from "./use-width.ts";

const GROUPS: readonly StatsBy[] = ["day", "model", "cwd"];
const ROW_PX = 22;
/** Bars that are drawn: the last days, or the largest. The table has all of them. */
const MAX_BARS = 60;
const NAME_PART = 0.4;
const MAX_NAME_PX = 300;
const LETTER_PX = 7.2;
const VALUE_PX = 64;

/** Statistics over sessions. */
export function StatsView({
  stats,
  onGroup,
}: {
  readonly stats: ServerStats;
  readonly onGroup: (by: StatsBy) => void;
}): VNode {
  const words = usePictureWords();
  const [figure, setFigure] = useState<StatsFigure>("cost");
  return (
    <section class="picture" aria-label={words.statistics}>
      <p class="picture-row">
        <Choice
          label={words.groupBy}
          options={GROUPS}
          names={words.groups}
          value={stats.by}
          onChoose={onGroup}
        />
        <Choice
          label={words.figureLabel}
          options={STATS_FIGURES}
          names={words.figures}
          value={figure}
          onChoose={setFigure}
        />
      </p>
      {stats.rows.length === 0 ? (
        <p class="soft">{words.nothing}</p>
      ) : (
        <>
          <StatsDrawing stats={stats} figure={figure} />
          <StatsTable stats={stats} />
        </>
      )}
    </section>
  );
}

function Choice<T extends string>({
  label,
  options,
  names,
  value,
  onChoose,
}: {
  readonly label: string;
  readonly options: readonly T[];
  readonly names: { readonly [O in T]: string };
  readonly value: T;
  readonly onChoose: (option: T) => void;
}): VNode {
  return (
    <label>
      {label}{" "}
      <select
        value={value}
        onChange={({ currentTarget }) => {
          const chosen = options.find((option) => option === currentTarget.value);
          if (chosen !== undefined) onChoose(chosen);
        }}
      >
        {options.map((option) => (
          <option key={option} value={option}>
            {names[option]}
          </option>
        ))}
      </select>
    </label>
  );
}

function StatsDrawing({
  stats,
  figure,
}: {
  readonly stats: ServerStats;
  readonly figure: StatsFigure;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const id = useId();
  const { ref, width } = useWidth<HTMLDivElement>();
  const all = statsBars(stats, figure);
  const bars = stats.by === "day" ? all.slice(-MAX_BARS) : all.slice(0, MAX_BARS);
  const longest = bars.reduce((most, { row }) => Math.max(most, row.key.length), 0);
  const names = Math.min(MAX_NAME_PX, Math.round(width * NAME_PART), Math.ceil((longest + 2) * LETTER_PX));
  const room = Math.max(1, width - names - VALUE_PX);
  return (
    <div ref={ref}>
      <svg class="stats" role="img" aria-labelledby={`${id}t`} width={width} height={bars.length * ROW_PX}>
        <title id={`${id}t`}>{words.statsOf(words.figures[figure], words.groups[stats.by])}</title>
        {bars.map(({ row, value, share }, at) => (
          <g key={row.key}>
            <text x={0} y={at * ROW_PX + 15}>
              {shortKey(row.key, Math.floor(names / LETTER_PX) - 1)}
              <title>{row.key}</title>
            </text>
            <rect
              class={figure === "failures" ? "mark-failed" : "mark-streaming"}
              x={names}
              y={at * ROW_PX + 4}
              width={Math.max(share > 0 ? 1 : 0, share * room)}
              height={ROW_PX - 8}
            />
            <text x={names + share * room + 4} y={at * ROW_PX + 15}>
              {valueText({ row, value, share }, { figure, words, formats })}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

function valueText(
  { value }: StatsBar,
  {
    figure,
    words,
    formats,
  }: { readonly figure: StatsFigure; readonly words: PictureWords; readonly formats: Formats },
): string {
  if (value === undefined) return words.unknown;
  return figure === "cost" ? formats.money(value) : formats.count(value);
}

/** Of a folder the end, of a model the beginning tells more. */
function shortKey(key: string, letters: number): string {
  if (key.length <= letters) return key;
  return key.startsWith("/") ? `…${key.slice(1 - letters)}` : `${key.slice(0, letters - 1)}…`;
}

function StatsTable({ stats: { by, rows, total } }: { readonly stats: ServerStats }): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const { figures } = words;
  const cellsOf = (row: StatsRow, name: string): TableRow => ({
    key: row.key,
    cells: [
      name,
      formats.count(row.sessions),
      formats.count(row.runs),
      formats.count(row.turns),
      formats.count(row.inputTokens),
      percentText(row.cacheReadTokens, row.inputTokens),
      formats.count(row.outputTokens),
      costText(row, words, formats),
      formats.count(row.failures),
    ],
  });
  return (
    <PlainTable
      columns={[
        words.keys[by],
        words.sessions,
        figures.runs,
        figures.turns,
        words.input,
        words.fromCache,
        words.output,
        figures.cost,
        figures.failures,
      ]}
      rows={[...rows.map((row) => cellsOf(row, row.key)), { ...cellsOf(total, words.total), isChosen: true }]}
    />
  );
}

/** The cost as far as it is known, and how many requests it is without. */
function costText({ cost, unpriced }: StatsRow, words: PictureWords, { money }: Formats): string {
  const known = cost === null ? "—" : money(cost);
  return unpriced === 0 ? known : `${known} ${words.unpriced(unpriced)}`;
}
