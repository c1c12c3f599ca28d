import { type ComponentChildren, type Context, createContext, type VNode } from "preact";

/** True when rendering to a file: everything is drawn, without controls. */
export const StaticContext: Context<boolean> = createContext(false);

/** A share: `12%`. */
export function percentText(part: number, whole: number): string {
  if (whole <= 0) return "0%";
  const percent = (part / whole) * 100;
  return percent > 0 && percent < 0.95 ? "<1%" : `${Math.round(percent)}%`;
}

const ROUND_STEPS = [1, 2, 5];

/** Round figures from 0 to `most`, about `wanted` of them. */
export function ticksUpTo(most: number, wanted: number): readonly number[] {
  if (!(most > 0)) return [0];
  const rough = most / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (ROUND_STEPS.find((each) => each * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_none, at) => at * step);
}

/** A coordinate for SVG, with at most two decimals. */
export function svgPercent(value: number): string {
  return `${Number(value.toFixed(2))}%`;
}

export function Dot({ kind }: { readonly kind: string }): VNode {
  return (
    <svg class="dot" aria-hidden="true">
      <rect class={kind} width="9" height="9" rx="2" />
    </svg>
  );
}

interface ChartColumn {
  readonly title: string;
  /** From the bottom: class and value. */
  readonly parts: readonly (readonly [kind: string, value: number])[];
  /** Shown below it. */
  readonly label?: string | undefined;
  readonly isChosen?: boolean;
  readonly choose?: () => void;
}

interface ColumnsProps {
  readonly columns: readonly ChartColumn[];
  /** Fewer columns get the width they would have at this many. */
  readonly least: number;
  readonly height: number;
  readonly tickText: (value: number) => string;
  /** Accessible name; undefined if an element around it has one. */
  readonly name?: string;
}

/** Columns of stacked parts over one scale that starts at 0. */
export function Columns({ columns, least, height, tickText, name }: ColumnsProps): VNode {
  const bottom = height - 28;
  const step = 100 / Math.max(least, columns.length);
  const highest = columns.reduce((most, { parts }) => Math.max(most, sumOf(parts)), 0);
  const [, tick = 1] = ticksUpTo(highest, 3);
  const most = Math.max(1, Math.ceil(highest / tick)) * tick;
  const y = (value: number): number => Number((bottom - ((bottom - 20) * value) / most).toFixed(1));
  const last = columns.length - 1;
  return (
    <svg
      width="100%"
      height={height}
      {...(name === undefined ? { "aria-hidden": "true" } : { role: "img", "aria-label": name })}
    >
      {ticksUpTo(most, 3).map((value) => (
        <g key={value}>
          <line class="grid-l" x1="0" x2="100%" y1={y(value)} y2={y(value)} />
          {value > 0 && (
            <text x="-8" y={y(value) + 4} text-anchor="end">
              {tickText(value)}
            </text>
          )}
        </g>
      ))}
      {columns.map(({ title, parts, label, isChosen, choose }, at) => {
        const [x, width] = [(at + 0.09) * step, 0.82 * step];
        const isWide = columns.length >= least;
        let top = 0;
        return (
          <g key={at} onClick={choose}>
            <title>{title}</title>
            <rect class="hit" x={svgPercent(at * step)} y="0" width={svgPercent(step)} height={height} />
            {parts.map(([kind, value]) => {
              const from = y(top);
              top += value;
              const height = Math.max(0.6, Number((from - y(top) - 1).toFixed(1)));
              return (
                <rect
                  key={top}
                  class={kind}
                  x={svgPercent(x)}
                  y={y(top)}
                  width={svgPercent(width)}
                  height={height}
                  rx="1.5"
                />
              );
            })}
            {isChosen === true && (
              <rect
                class="sel"
                x={svgPercent(x - 0.03 * step)}
                y={y(sumOf(parts)) - 3}
                width={svgPercent(0.88 * step)}
                height={bottom - y(sumOf(parts)) + 4}
                rx="3"
              />
            )}
            {label !== undefined && (
              <text
                x={isWide && at === last ? "100%" : svgPercent(isWide && at === 0 ? x : x + width / 2)}
                y={bottom + 18}
                text-anchor={isWide && at === last ? "end" : isWide && at === 0 ? "start" : "middle"}
              >
                {label}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

function sumOf(parts: ChartColumn["parts"]): number {
  return parts.reduce((sum, [, value]) => sum + value, 0);
}

interface TableColumn<Row> {
  readonly head: string;
  /** True if only screen readers need the head. */
  readonly isBare?: boolean;
  readonly look?: string;
  readonly cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  /** Appears over the first column. */
  readonly title: string;
  readonly rows: readonly Row[];
  readonly columns: readonly TableColumn<Row>[];
  readonly isOn?: (row: Row) => boolean;
}

export function Table<Row>({ title, rows, columns, isOn }: TableProps<Row>): VNode {
  return (
    <table class="t">
      <thead>
        <tr>
          {columns.map(({ head, isBare, look }, at) => (
            <th key={at} class={at === 0 ? "h" : look}>
              {at === 0 ? <h2>{title}</h2> : isBare === true ? <span class="hide">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at} class={isOn?.(row) === true ? "on" : undefined}>
            {columns.map(({ look, cell }, column) => (
              <td key={column} class={look}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
