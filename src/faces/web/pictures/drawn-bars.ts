import { placeOf, type TimeAxis } from "./time-axis.ts";
import type { TimelineBar } from "./timeline-bar.ts";

/** The part of a picture that is seen: places on the axis, and how wide it is drawn. */
export interface PictureWindow {
  readonly from: number;
  readonly to: number;
  readonly pixels: number;
}

/** A bar as it is drawn: whole pixels, at least one. Bars that share a pixel are drawn as one. */
export interface DrawnBar {
  readonly x: number;
  readonly width: number;
  /** The longest one that it stands for. */
  readonly bar: TimelineBar;
  /** How many bars it stands for. */
  readonly count: number;
}

/** The bars of a row that are seen, so that they never overlap; there are never more than pixels. */
export function drawnBars(
  bars: readonly TimelineBar[],
  axis: TimeAxis,
  { from, to, pixels }: PictureWindow,
): readonly DrawnBar[] {
  const scale = pixels / Math.max(1e-6, to - from);
  const drawn: { x: number; width: number; bar: TimelineBar; count: number }[] = [];
  for (let at = firstSeen(bars, axis, from); at < bars.length; at++) {
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

/** The place of the first bar that does not end before the picture begins. */
function firstSeen(bars: readonly TimelineBar[], axis: TimeAxis, from: number): number {
  let low = 0;
  let high = bars.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const bar = bars[middle];
    if (bar !== undefined && placeOf(axis, bar.to) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
