import type { VNode } from "preact";
import { useId, useState } from "preact/hooks";
import { useFormats } from "../language/formats.ts";
import { type DrawnBar, drawnBars, type PictureWindow } from "./drawn-bars.ts";
import type { PictureWords } from "./english-pictures.ts";
import { timeTicks } from "./figures.ts";
import { usePictureWords } from "./picture-words.ts";
import { RequestChart } from "./request-chart.tsx";
import type { Timeline } from "./run-timeline.ts";
import { placeOfWork, workUpTo } from "./time-axis.ts";
import type { TimelineRow } from "./timeline-bar.ts";
import { useWidth } from "./use-width.ts";

const ROW_PX = 16;
const BAR_PX = 12;
const HEAD_PX = 18;
const AXIS_PX = 20;
/** Pixels of a name's letter, about. */
const LETTER_PX = 7;
const MAX_NAMES = 3;
const MAX_ZOOM = 4_096;

/** The rows of a timeline over one axis, with tokens and cost along it. One can go closer and along. */
export function TimelineDrawing({
  timeline,
  chosen,
  onChoose,
}: {
  readonly timeline: Timeline;
  readonly chosen: DrawnBar | undefined;
  readonly onChoose: (bar: DrawnBar) => void;
}): VNode {
  const { ref, width } = useWidth<HTMLDivElement>();
  const [zoom, setZoom] = useState(1);
  const [middle, setMiddle] = useState(0.5);
  const window = windowOf(timeline, { zoom, middle, pixels: width });
  return (
    <div ref={ref}>
      <ZoomBar zoom={zoom} middle={middle} onZoom={setZoom} onMove={setMiddle} />
      <RowsPicture timeline={timeline} window={window} chosen={chosen} onChoose={onChoose} />
      <RequestChart timeline={timeline} window={window} />
    </div>
  );
}

function windowOf(
  { axis: { length } }: Timeline,
  { zoom, middle, pixels }: { readonly zoom: number; readonly middle: number; readonly pixels: number },
): PictureWindow {
  const seen = length / zoom;
  const from = Math.max(0, Math.min(length - seen, middle * length - seen / 2));
  return { from, to: from + seen, pixels };
}

function ZoomBar({
  zoom,
  middle,
  onZoom,
  onMove,
}: {
  readonly zoom: number;
  readonly middle: number;
  readonly onZoom: (zoom: number) => void;
  readonly onMove: (middle: number) => void;
}): VNode {
  const words = usePictureWords();
  return (
    <p class="picture-row">
      <button type="button" disabled={zoom >= MAX_ZOOM} onClick={() => onZoom(zoom * 2)}>
        {words.zoomIn}
      </button>
      <button type="button" disabled={zoom <= 1} onClick={() => onZoom(zoom / 2)}>
        {words.zoomOut}
      </button>
      <button type="button" disabled={zoom <= 1} onClick={() => onZoom(1)}>
        {words.zoomAll}
      </button>
      {zoom > 1 && (
        <input
          type="range"
          aria-label={words.position}
          min={0}
          max={1}
          step={Math.min(0.01, 0.25 / zoom)}
          value={middle}
          onInput={(event) => onMove(Number(event.currentTarget.value))}
        />
      )}
    </p>
  );
}

interface PlacedRow {
  readonly row: TimelineRow;
  readonly y: number;
  /** The name above it, where a new part begins. */
  readonly head: string | undefined;
}

function placedRows(
  timeline: Timeline,
  words: PictureWords,
): { readonly rows: readonly PlacedRow[]; readonly height: number } {
  const rows: PlacedRow[] = [];
  let y = AXIS_PX;
  let group = -1;
  for (const row of timeline.rows) {
    const isNew = row.group !== group;
    group = row.group;
    if (isNew) y += HEAD_PX;
    const head = group === 0 ? words.conversation : words.subagents(group, namesIn(row));
    rows.push({ row, y, head: isNew ? head : undefined });
    y += ROW_PX;
  }
  return { rows, height: y };
}

function RowsPicture({
  timeline,
  window,
  chosen,
  onChoose,
}: {
  readonly timeline: Timeline;
  readonly window: PictureWindow;
  readonly chosen: DrawnBar | undefined;
  readonly onChoose: (bar: DrawnBar) => void;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const id = useId();
  const { rows, height } = placedRows(timeline, words);
  const worked = timeline.axis.stretches.reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    <svg
      class="timeline"
      role="img"
      aria-labelledby={`${id}t ${id}d`}
      width={window.pixels}
      height={height + 4}
      viewBox={`0 0 ${window.pixels} ${height + 4}`}
    >
      <title id={`${id}t`}>{words.timeline}</title>
      <desc id={`${id}d`}>{words.timelineOf(timeline.requests.length, formats.duration(worked))}</desc>
      <AxisMarks timeline={timeline} window={window} height={height} />
      {rows.map(({ row, y: top, head }) => (
        <g key={top}>
          {head !== undefined && (
            <text class="head" x={0} y={top - 5}>
              {head}
            </text>
          )}
          {drawnBars(row.bars, timeline.axis, window).map((drawn) => (
            <BarMark
              key={drawn.x}
              drawn={drawn}
              y={top}
              isChosen={chosen?.bar === drawn.bar}
              onChoose={onChoose}
            />
          ))}
        </g>
      ))}
    </svg>
  );
}

/** The names of the bars of a row, the first few of them. */
function namesIn({ bars }: TimelineRow): string {
  const names = [...new Set(bars.map(({ label }) => label))];
  return `${names.slice(0, MAX_NAMES).join(", ")}${names.length > MAX_NAMES ? " …" : ""}`;
}

/** Round times, and the pauses that are cut down. */
function AxisMarks({
  timeline: { axis },
  window: { from, to, pixels },
  height,
}: {
  readonly timeline: Timeline;
  readonly window: PictureWindow;
  readonly height: number;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const x = (place: number): number => ((place - from) / Math.max(1e-6, to - from)) * pixels;
  const ticks = timeTicks(
    workUpTo(axis, from),
    workUpTo(axis, to),
    Math.max(2, Math.floor(pixels / 120)),
  ).map((worked) => ({ worked, left: x(placeOfWork(axis, worked)) }));
  const pauses = axis.stretches.filter(
    ({ at, idleBefore }) => idleBefore > 1_000 && at >= from && at <= to && pixels > 0,
  );
  return (
    <g class="axis">
      {ticks.map(({ worked, left }) => (
        <g key={worked}>
          <line x1={left} x2={left} y1={AXIS_PX - 4} y2={height} />
          <text x={Math.min(left + 3, pixels - 40)} y={12}>
            {formats.duration(worked)}
          </text>
        </g>
      ))}
      {pauses.length <= pixels / 8 &&
        pauses.map(({ at, idleBefore }) => (
          <line key={at} class="pause" x1={x(at)} x2={x(at)} y1={AXIS_PX} y2={height}>
            <title>{words.pause(formats.duration(idleBefore))}</title>
          </line>
        ))}
    </g>
  );
}

function BarMark({
  drawn,
  y,
  isChosen,
  onChoose,
}: {
  readonly drawn: DrawnBar;
  readonly y: number;
  readonly isChosen: boolean;
  readonly onChoose: (bar: DrawnBar) => void;
}): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const { x, width, bar, count } = drawn;
  const fits = bar.label.length * LETTER_PX < width - 6;
  const title = `${words.bars[bar.kind]} ${bar.label} ${formats.duration(bar.to - bar.from)} ${words.status[bar.status]}`;
  return (
    <g class={isChosen ? "bar chosen" : "bar"} onClick={() => onChoose(drawn)}>
      <title>{count > 1 ? `${title} ${words.more(count - 1)}` : title}</title>
      <rect
        class={`mark-${bar.kind} ${bar.status}`}
        x={x}
        y={y}
        width={width > 3 ? width - 0.5 : width}
        height={BAR_PX}
      />
      {fits && (bar.kind === "tool" || bar.kind === "agent") && (
        <text x={x + 3} y={y + BAR_PX - 3}>
          {bar.label}
        </text>
      )}
    </g>
  );
}
