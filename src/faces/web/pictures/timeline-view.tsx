import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { Words } from "../language/language.ts";
import { type Formats, useFormats, useLanguage, useWords } from "../language/language.ts";
import { Button, Money } from "../text/controls.tsx";
import { CALL_MARKS, type IconName, StateMark } from "../text/icons.tsx";
import { stepClass } from "../text/strip.tsx";
import { Dot, percentText, svgPercent, Table } from "./chart-parts.tsx";
import { activeTimeAt, axisPositionOf, type ChartWindow, type DrawnBar, drawnBars } from "./time-axis.ts";
import {
  runTimeline,
  SHARE_OF,
  TIME_SHARES,
  type Timeline,
  type TimelineBar,
  type TimelineLane,
} from "./timeline-data.ts";

/** The drawing width. Narrower screens scale the chart down. */
const PIXELS = 1_200;
const MAX_ZOOM = 4_096;
const TICKS = 6;
const SLOWEST = 5;
const LETTER_PX = 7;
const COLUMN_PX = 10;
const TALL_PX = 72;

export interface TimelineProps {
  readonly entries: readonly JournalEntry[];
  /** Milliseconds since the epoch, while a process is working on the session. */
  readonly now?: number | undefined;
  readonly windowTokens?: number | undefined;
  readonly onChoose?: ((entryId: string) => void) | undefined;
}

export function TimelineChart({ entries, now, windowTokens, onChoose }: TimelineProps): VNode {
  const words = useWords();
  const count = entries.length;
  const timeline = useMemo(() => runTimeline(entries.slice(0, count), now), [entries, count, now]);
  if (timeline.lanes.length === 0) return <p class="dim">{words.nothingYet}</p>;
  return (
    <section class="picture" aria-label={words.views.timeline}>
      <Shares timeline={timeline} />
      <Chart timeline={timeline} windowTokens={windowTokens} onChoose={onChoose} />
      <Slowest timeline={timeline} />
    </section>
  );
}

const SHARE_CLASSES = {
  streaming: "t-model",
  waiting: "t-think",
  compaction: "t-think",
  retry: "t-fail",
  asking: "t-wait",
  tool: "t-bash",
  other: "t-rest",
} as const;

function Shares({ timeline: { shares, total } }: { readonly timeline: Timeline }): VNode {
  const { words, stopwatch, count } = useLanguage();
  const all = TIME_SHARES.reduce((sum, share) => sum + shares[share], 0);
  const shown = TIME_SHARES.filter(
    (share) => shares[share] > 0 && shares[share] >= Math.min(500, all / 200),
  ).sort((left, right) => shares[right] - shares[left]);
  return (
    <dl class="figs" aria-label={words.whereTime}>
      {shown.map((share, at) => (
        <div key={share} class="fig">
          <dt>
            <Dot kind={SHARE_CLASSES[share]} />
            <span class="cut">{words.activities[share]}</span>
          </dt>
          <dd>{stopwatch(shares[share])}</dd>
          <span class="dim num">
            {at === 0
              ? words.ofTime(percentText(shares[share], all), stopwatch(all))
              : percentText(shares[share], all)}
          </span>
        </div>
      ))}
      <div class="fig">
        <dt>{words.cost}</dt>
        <dd>
          <Money spent={total} />
        </dd>
        <span class="dim num">{words.tokens(count(total.usage.inputTokens + total.usage.outputTokens))}</span>
      </div>
    </dl>
  );
}

/** The bars of all lanes, ordered by start. */
function barsInOrder({ lanes }: Timeline): readonly TimelineBar[] {
  return lanes.flatMap(({ bars }) => bars).sort((left, right) => left.from - right.from);
}

/** A failed call if there is one, else the longest bar. */
function defaultBar({ lanes }: Timeline): TimelineBar | undefined {
  let best: TimelineBar | undefined;
  const weight = ({ kind, status, from, to }: TimelineBar): number =>
    to - from + (kind === "tool" && status === "error" ? 1e12 : 0);
  for (const { bars } of lanes)
    for (const bar of bars) if (best === undefined || weight(bar) > weight(best)) best = bar;
  return best;
}

interface ChartProps extends Pick<TimelineProps, "windowTokens" | "onChoose"> {
  readonly timeline: Timeline;
}

/** All lanes over one axis. Keys and buttons zoom; arrows move from bar to bar. */
function Chart({ timeline, windowTokens, onChoose }: ChartProps): VNode {
  const words = useWords();
  const [zoom, setZoom] = useState(1);
  const [choice, choose] = useState<TimelineBar>();
  const bars = useMemo(() => barsInOrder(timeline), [timeline]);
  const stillThere = bars.find(({ entryId, kind }) => entryId === choice?.entryId && kind === choice.kind);
  const chosen = stillThere ?? defaultBar(timeline);
  const window = windowAround(timeline, chosen, zoom);
  const zoomTo = (next: number): void => setZoom(Math.min(MAX_ZOOM, Math.max(1, next)));
  const handleKey = (key: string): boolean => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (step !== undefined) choose(bars[bars.indexOf(chosen ?? ({} as TimelineBar)) + step] ?? chosen);
    else if (key === "+" || key === "=") zoomTo(zoom * 2);
    else if (key === "-") zoomTo(zoom / 2);
    else if (key === "0") zoomTo(1);
    else if (key === "Enter" && chosen !== undefined) onChoose?.(chosen.entryId);
    else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    if (handleKey(event.key)) event.preventDefault();
  };
  const { runs, requests, calls } = timeline;
  const button = (icon: IconName, name: string, next: number): VNode => (
    <Button icon={icon} look="bare icon" name={name} onClick={() => zoomTo(next)} />
  );
  return (
    <section>
      <div class="hd">
        <h2>{words.runCounts(runs, requests.length, calls)}</h2>
        <span class="end">
          <Legend />
          {button("minus", words.zoomOut, zoom / 2)}
          {button("plus", words.zoomIn, zoom * 2)}
          {button("whole", words.zoomAll, 1)}
        </span>
      </div>
      <div class="chart" tabIndex={0} role="group" aria-label={words.chartKeys} onKeyDown={onKeyDown}>
        <Axis timeline={timeline} window={window} />
        {timeline.lanes.map((lane, at) => (
          <LaneRow
            key={at}
            lane={lane}
            isFirst={timeline.lanes[at - 1]?.kind !== lane.kind}
            timeline={timeline}
            window={window}
            chosen={chosen}
            choose={choose}
          />
        ))}
        <ContextLane timeline={timeline} window={window} windowTokens={windowTokens} />
        <CostLane timeline={timeline} window={window} />
        {chosen !== undefined && <Tip bar={chosen} timeline={timeline} onChoose={onChoose} />}
      </div>
    </section>
  );
}

function Legend(): VNode {
  const words = useWords();
  return (
    <span class="legend">
      {(["look", "edit", "bash", "fail"] as const).map((kind) => (
        <span key={kind}>
          <Dot kind={`t-${kind}`} />
          {words.legend[kind]}
        </span>
      ))}
    </span>
  );
}

function windowAround({ axis }: Timeline, chosen: TimelineBar | undefined, zoom: number): ChartWindow {
  const visible = axis.length / zoom;
  const middle = chosen === undefined ? 0 : axisPositionOf(axis, (chosen.from + chosen.to) / 2);
  const from = Math.max(0, Math.min(axis.length - visible, middle - visible / 2));
  return { from, to: from + visible, pixels: PIXELS };
}

interface DrawnProps {
  readonly timeline: Timeline;
  readonly window: ChartWindow;
}

function Grid({ height }: { readonly height: number }): VNode {
  return (
    <>
      {Array.from({ length: TICKS - 1 }, (_none, at) => {
        const x = svgPercent((100 * (at + 1)) / TICKS);
        return <line key={at} class="grid-l" x1={x} x2={x} y1="0" y2={height} />;
      })}
    </>
  );
}

function Axis({ timeline: { axis }, window: { from, to } }: DrawnProps): VNode {
  const { stopwatch, duration } = useFormats();
  const span = to - from;
  return (
    <div class="lane axis">
      <span />
      <svg aria-hidden="true">
        <Grid height={28} />
        {Array.from({ length: TICKS }, (_none, at) => {
          const worked = activeTimeAt(axis, from + (span * at) / TICKS);
          return (
            <text key={at} x={svgPercent((100 * at) / TICKS)} dx="6" y="18">
              {span < 10_000 ? duration(worked) : stopwatch(worked)}
            </text>
          );
        })}
      </svg>
    </div>
  );
}

interface LaneProps extends DrawnProps {
  readonly lane: TimelineLane;
  readonly isFirst: boolean;
  readonly chosen: TimelineBar | undefined;
  readonly choose: (bar: TimelineBar) => void;
}

function LaneRow({ lane, isFirst, timeline, window, chosen, choose }: LaneProps): VNode {
  const words = useWords();
  const formats = useFormats();
  const { kind, names, bars } = lane;
  const name = kind === "agent" ? names.map((each) => terminalLine(each, 40)).join(", ") : words.lanes[kind];
  const model = kind === "model" ? bars.at(-1)?.label.replace(/^.*\//, "") : undefined;
  const small = kind === "agent" ? words.subagentLane : terminalLine(model ?? "", 40);
  return (
    <div class="lane">
      <span class="cut">
        {(isFirst || kind === "agent") && name}
        {isFirst && small !== "" && <small class="cut">{small}</small>}
      </span>
      <svg role="img" aria-label={`${name}: ${words.barCount(bars.length)}`}>
        <Grid height={40} />
        {drawnBars(bars, timeline.axis, window).map((drawn) => (
          <g key={drawn.x} onClick={() => choose(drawn.bar)}>
            <title>{barTitle(drawn, words, formats)}</title>
            <BarMark drawn={drawn} isChosen={chosen === drawn.bar} />
          </g>
        ))}
      </svg>
    </div>
  );
}

function BarMark({
  drawn,
  isChosen,
}: {
  readonly drawn: DrawnBar<TimelineBar>;
  readonly isChosen: boolean;
}): VNode {
  const { words, seconds } = useLanguage();
  const { x, width, bar } = drawn;
  const left = svgPercent((x * 100) / PIXELS);
  const wide = svgPercent((Math.max(width, bar.to > bar.from ? 3 : 1) * 100) / PIXELS);
  if (bar.kind === "message")
    return (
      <text x={left} dx="4" y="25" class={isChosen ? "on" : undefined}>
        ❯<tspan class="msg"> {terminalLine(bar.label, 44)}</tspan>
      </text>
    );
  const text =
    bar.kind === "tool"
      ? terminalLine(bar.detail || bar.label, 60)
      : bar.kind === "asking"
        ? `${words.verbs[bar.label] ?? terminalLine(bar.label, 30)}? · ${seconds(bar.to - bar.from)}`
        : "";
  const look = barClass(bar);
  return (
    <>
      <svg x={left} y="10" width={wide} height="20">
        <rect class={look} width="100%" height="20" rx="2" />
        {text !== "" && width > 5 * LETTER_PX && (
          <text class={`in on-${look.slice(2)}`} x="6" y="14">
            {text.slice(0, Math.floor(width / LETTER_PX))}
          </text>
        )}
      </svg>
      {isChosen && <rect class="sel" x={left} y="9" width={wide} height="22" rx="3" />}
    </>
  );
}

function barClass({ kind, label, status }: TimelineBar): string {
  if (kind !== "tool") return SHARE_CLASSES[SHARE_OF[kind]];
  return status === "error" ? "t-fail" : stepClass(label);
}

function barName({ kind, label }: TimelineBar, words: Words): string {
  return kind === "tool" ? (words.verbs[label] ?? terminalLine(label, 40)) : words.activities[kind];
}

function barTitle({ bar, count }: DrawnBar<TimelineBar>, words: Words, { duration }: Formats): string {
  const { kind, detail = "", label } = bar;
  const about = kind === "message" ? label : detail;
  const more = count > 1 ? ` ${words.moreBars(count - 1)}` : "";
  return `${barName(bar, words)} ${terminalLine(about, 120)} ${duration(bar.to - bar.from)}${more}`;
}

function Tip({
  bar,
  timeline,
  onChoose,
}: {
  readonly bar: TimelineBar;
  readonly timeline: Timeline;
  readonly onChoose: TimelineProps["onChoose"];
}): VNode {
  const { words, duration, stopwatch } = useLanguage();
  const { entryId, kind, status, from, to, detail, label } = bar;
  const mark = CALL_MARKS[status];
  const at = stopwatch(activeTimeAt(timeline.axis, axisPositionOf(timeline.axis, from)));
  const about = kind === "message" ? label : (detail ?? "");
  return (
    <div class="tip">
      <StateMark mark={mark} />
      <b>{barName(bar, words)}</b>
      {about !== "" && <code class="cut">{terminalLine(about, 200)}</code>}
      <span class="dim num cut" aria-live="polite">
        {[at, ...(to > from ? [words.took(duration(to - from))] : [])].join(" · ")}
      </span>
      <span class="grow" />
      {onChoose !== undefined && (
        <Button kbd="↵" look="small" onClick={() => onChoose(entryId)}>
          {words.openInChat}
        </Button>
      )}
    </div>
  );
}

interface Column {
  readonly x: number;
  readonly input: number;
  readonly cached: number;
  readonly cost: number | undefined;
}

/** Requests as columns of a few pixels: the largest of those that share one, and the cost after the last. */
function columnsOf({ requests, axis }: Timeline, { from, to }: ChartWindow): readonly Column[] {
  const columns = new Map<number, Column>();
  for (const { time, inputTokens, cacheReadTokens, isNested, spent } of requests) {
    const at = ((axisPositionOf(axis, time) - from) / Math.max(1e-6, to - from)) * PIXELS;
    if (at < 0 || at > PIXELS) continue;
    const x = Math.min(Math.floor(at / COLUMN_PX) * COLUMN_PX, PIXELS - COLUMN_PX);
    const known = columns.get(x) ?? { input: 0, cached: 0 };
    // The conversation's window: a subagent has another.
    const isLarger = !isNested && inputTokens > known.input;
    columns.set(x, {
      x,
      input: isLarger ? inputTokens : known.input,
      cached: isLarger ? cacheReadTokens : known.cached,
      cost: spent.costUsd,
    });
  }
  return [...columns.values()];
}

interface TallProps {
  readonly name: string;
  readonly small: string;
  readonly most: string;
  readonly children: VNode | readonly VNode[];
}

function TallLane({ name, small, most, children }: TallProps): VNode {
  return (
    <div class="lane tall">
      <span>
        {name}
        {small !== "" && <small>{small}</small>}
      </span>
      <svg role="img" aria-label={`${name}: ${most}`}>
        <Grid height={TALL_PX} />
        {children}
        <text x="99%" y="14" text-anchor="end">
          {most}
        </text>
      </svg>
    </div>
  );
}

function ContextLane({
  timeline,
  window,
  windowTokens,
}: DrawnProps & Pick<TimelineProps, "windowTokens">): VNode | null {
  const { words, count } = useLanguage();
  const columns = columnsOf(timeline, window);
  const most = Math.max(0, ...columns.map(({ input }) => input));
  if (most === 0) return null;
  const heightOf = (tokens: number): number => Number(((tokens / most) * 48).toFixed(2));
  const rect = (kind: string, x: number, y: number, height: number): VNode => (
    <rect
      key={`${x} ${kind}`}
      class={kind}
      x={svgPercent((x * 100) / PIXELS)}
      y={y}
      width={svgPercent(100 / 120)}
      height={height}
    />
  );
  return (
    <TallLane
      name={words.lanes.context}
      small={windowTokens === undefined ? "" : words.ofWindow(count(windowTokens))}
      most={count(most)}
    >
      {columns.flatMap(({ x, input, cached }) => [
        rect("t-think", x, 66 - heightOf(cached), heightOf(cached)),
        rect("t-model", x, 66 - heightOf(input), heightOf(input) - heightOf(cached)),
      ])}
    </TallLane>
  );
}

function CostLane({ timeline, window }: DrawnProps): VNode | null {
  const { words, money } = useLanguage();
  const priced = columnsOf(timeline, window).filter(({ cost }) => cost !== undefined);
  const most = priced.at(-1)?.cost ?? 0;
  if (most === 0) return null;
  const all = timeline.total.costUsd ?? most;
  const y = (cost: number): string => (66 - (46 * cost) / all).toFixed(1);
  const line = `M0 ${y(priced[0]?.cost ?? 0)}${priced.map(({ x, cost = 0 }) => `H${x}V${y(cost)}`).join("")}H${PIXELS}`;
  return (
    <TallLane name={words.lanes.cost} small={words.soFar} most={money(most)}>
      <svg viewBox={`0 0 ${PIXELS} ${TALL_PX}`} preserveAspectRatio="none" width="100%" height={TALL_PX}>
        <path class="area" d={`${line}V${TALL_PX}H0z`} />
        <path class="edge-l" d={line} />
      </svg>
    </TallLane>
  );
}

function Slowest({ timeline }: { readonly timeline: Timeline }): VNode {
  const { words, duration } = useLanguage();
  const all = TIME_SHARES.reduce((sum, share) => sum + timeline.shares[share], 0);
  const slowest = barsInOrder(timeline)
    .filter(({ from, to }) => to > from)
    .sort((left, right) => right.to - right.from - left.to + left.from)
    .slice(0, SLOWEST);
  return (
    <section>
      <Table
        title={words.slowest}
        rows={slowest}
        columns={[
          { head: "", cell: (bar) => barName(bar, words) },
          { head: words.arguments, isBare: true, look: "dim wrap", cell: (bar) => <BarDetail bar={bar} /> },
          { head: words.tookColumn, look: "r", cell: ({ from, to }) => duration(to - from) },
          { head: words.share, look: "r", cell: ({ from, to }) => percentText(to - from, all) },
        ]}
      />
    </section>
  );
}

function BarDetail({ bar: { kind, label, detail } }: { readonly bar: TimelineBar }): VNode {
  const words = useWords();
  const tool = kind === "asking" ? `${words.verbs[label] ?? terminalLine(label, 40)} ` : "";
  if (detail)
    return (
      <>
        {tool}
        <code>{terminalLine(detail, 80)}</code>
      </>
    );
  return <>{kind === "tool" ? "" : tool || terminalLine(label, 80)}</>;
}
