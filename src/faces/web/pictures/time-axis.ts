/** A stretch of the axis with activity. */
export interface AxisStretch {
  readonly from: number;
  readonly to: number;
  /** Its start on the axis, in milliseconds from the left. */
  readonly at: number;
  /** Milliseconds of all stretches before it. */
  readonly workedBefore: number;
  /** Milliseconds of inactivity before it; 0 for the first. */
  readonly idleBefore: number;
}

/** Real time, with the pauses between runs shortened to a small gap. */
export interface TimeAxis {
  readonly stretches: readonly AxisStretch[];
  readonly length: number;
}

/** Maximum share of a pause, and of all pauses, relative to the active time. */
const GAP_SHARE = 0.015;
const GAPS_SHARE = 0.12;

/** `runs`: in order, without overlap. */
export function timeAxis(runs: readonly Span[]): TimeAxis {
  const worked = runs.reduce((sum, { from, to }) => sum + to - from, 0);
  const widest = worked * Math.min(GAP_SHARE, GAPS_SHARE / Math.max(1, runs.length));
  const stretches: AxisStretch[] = [];
  let at = 0;
  let workedBefore = 0;
  for (const { from, to } of runs) {
    const before = stretches.at(-1);
    const idleBefore = before === undefined ? 0 : Math.max(0, from - before.to);
    at += Math.min(widest, idleBefore);
    stretches.push({ from, to, at, workedBefore, idleBefore });
    workedBefore += to - from;
    at += to - from;
  }
  return { stretches, length: Math.max(1, at) };
}

/** The position of a moment on an axis; in a pause, the start of the next stretch. */
export function axisPositionOf({ stretches, length }: TimeAxis, time: number): number {
  const stretch = stretches[firstIndexWhere(stretches, ({ to }) => to >= time)];
  return stretch === undefined ? length : stretch.at + Math.max(0, time - stretch.from);
}

/** The active milliseconds up to a position. */
export function activeTimeAt({ stretches }: TimeAxis, place: number): number {
  const index = firstIndexWhere(stretches, ({ at, from, to }) => at + to - from >= place);
  const stretch = stretches[index] ?? stretches.at(-1);
  if (stretch === undefined) return 0;
  const { workedBefore, at, from, to } = stretch;
  return workedBefore + Math.min(to - from, Math.max(0, place - at));
}

/** The first index at which a condition holds; it must hold for everything after that as well. */
function firstIndexWhere<T>(list: readonly T[], matches: (each: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const each = list[middle];
    if (each !== undefined && !matches(each)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The visible part of a chart: positions on the axis, and its width in pixels. */
export interface ChartWindow {
  readonly from: number;
  readonly to: number;
  readonly pixels: number;
}

/** Start and end, in milliseconds since the epoch. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** A bar as drawn: whole pixels, at least one. Bars that share a pixel are drawn as one. */
export interface DrawnBar<B extends Span = Span> {
  readonly x: number;
  readonly width: number;
  /** The longest of the merged bars. */
  readonly bar: B;
  /** Number of merged bars. */
  readonly count: number;
}

/** The visible bars of a row without overlap; never more than there are pixels. */
export function drawnBars<B extends Span>(
  bars: readonly B[],
  axis: TimeAxis,
  { from, to, pixels }: ChartWindow,
): readonly DrawnBar<B>[] {
  const scale = pixels / Math.max(1e-6, to - from);
  const drawn: { x: number; width: number; bar: B; count: number }[] = [];
  for (
    let at = firstIndexWhere(bars, ({ to: end }) => axisPositionOf(axis, end) >= from);
    at < bars.length;
    at++
  ) {
    const bar = bars[at];
    if (bar === undefined) break;
    const left = (axisPositionOf(axis, bar.from) - from) * scale;
    if (left >= pixels) break;
    const right = (axisPositionOf(axis, bar.to) - from) * scale;
    const x = Math.max(0, Math.floor(left));
    const end = Math.min(pixels, Math.max(x + 1, Math.round(right)));
    const last = drawn.at(-1);
    if (last === undefined || x >= last.x + last.width) {
      drawn.push({ x, width: end - x, bar, count: 1 });
      continue;
    }
    const free = last.x + last.width;
    // A bar that begins in the pixel where another ends, but lasts longer, has its own pixels.
    if (end > free && last.count === 1 && right - left >= 1) {
      drawn.push({ x: free, width: end - free, bar, count: 1 });
      continue;
    }
    last.width = Math.max(last.width, end - last.x);
    last.count++;
    if (bar.to - bar.from > last.bar.to - last.bar.from) last.bar = bar;
  }
  return drawn;
}
