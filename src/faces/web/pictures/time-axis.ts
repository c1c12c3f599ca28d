/** A stretch of the picture's axis in which something happened. */
export interface AxisStretch {
  readonly from: number;
  readonly to: number;
  /** Where it begins on the axis, in milliseconds from the left. */
  readonly at: number;
  /** Milliseconds of all stretches before it. */
  readonly workedBefore: number;
  /** Milliseconds in which nothing happened before it; 0 for the first. */
  readonly idleBefore: number;
}

/** The axis of a picture: real time, with the pauses between runs cut down to a small gap. */
export interface TimeAxis {
  readonly stretches: readonly AxisStretch[];
  readonly length: number;
}

/** The part of the axis that a pause takes, and that all of them take, at most: of all that happened. */
const GAP_SHARE = 0.015;
const GAPS_SHARE = 0.12;

/** An axis over stretches of time, which are given in order and do not overlap. */
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

/** The place of a moment on an axis; one in a pause is where the next stretch begins. */
export function placeOf({ stretches, length }: TimeAxis, time: number): number {
  const stretch = stretches[firstWhere(stretches, ({ to }) => to >= time)];
  return stretch === undefined ? length : stretch.at + Math.max(0, time - stretch.from);
}

/** The milliseconds that were worked up to a place. */
export function workUpTo({ stretches }: TimeAxis, place: number): number {
  const behind = firstWhere(stretches, ({ at, from, to }) => at + to - from >= place);
  const stretch = stretches[behind] ?? stretches.at(-1);
  if (stretch === undefined) return 0;
  const { workedBefore, at, from, to } = stretch;
  return workedBefore + Math.min(to - from, Math.max(0, place - at));
}

/** The place of the first of a list of which something is true that is true of all behind it. */
function firstWhere<T>(list: readonly T[], isBehind: (each: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const each = list[middle];
    if (each !== undefined && !isBehind(each)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The part of a picture that is seen: places on the axis, and how wide it is drawn. */
export interface PictureWindow {
  readonly from: number;
  readonly to: number;
  readonly pixels: number;
}

/** From when to when, in milliseconds since the epoch. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** A bar as it is drawn: whole pixels, at least one. Bars that share a pixel are drawn as one. */
export interface DrawnBar<B extends Span = Span> {
  readonly x: number;
  readonly width: number;
  /** The longest one that it stands for. */
  readonly bar: B;
  /** How many bars it stands for. */
  readonly count: number;
}

/** The bars of a row that are seen, so that they never overlap; there are never more than pixels. */
export function drawnBars<B extends Span>(
  bars: readonly B[],
  axis: TimeAxis,
  { from, to, pixels }: PictureWindow,
): readonly DrawnBar<B>[] {
  const scale = pixels / Math.max(1e-6, to - from);
  const drawn: { x: number; width: number; bar: B; count: number }[] = [];
  for (let at = firstWhere(bars, ({ to: end }) => placeOf(axis, end) >= from); at < bars.length; at++) {
    const bar = bars[at];
    if (bar === undefined) break;
    const left = (placeOf(axis, bar.from) - from) * scale;
    if (left >= pixels) break;
    const right = (placeOf(axis, bar.to) - from) * scale;
    const x = Math.max(0, Math.floor(left));
    const end = Math.min(pixels, Math.max(x + 1, Math.round(right)));
    const last = drawn.at(-1);
    if (last === undefined || x >= last.x + last.width) {
      drawn.push({ x, width: end - x, bar, count: 1 });
      continue;
    }
    const free = last.x + last.width;
    // What begins in the pixel where another one ends and goes on for longer has pixels of its own.
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
