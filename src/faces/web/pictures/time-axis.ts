/** A stretch of the picture's axis in which something happened. */
export interface AxisStretch {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Where it begins on the axis, in milliseconds from the left. */
  readonly at: number;
  /** Milliseconds in which nothing happened before it; 0 for the first. */
  readonly idleBefore: number;
}

/** The axis of a picture: real time, with the pauses between runs cut down to a small gap. */
export interface TimeAxis {
  readonly stretches: readonly AxisStretch[];
  /** Its length in milliseconds. */
  readonly length: number;
}

/** The part of the axis that a pause takes, at most: of all that happened. */
const GAP_SHARE = 0.015;

/** An axis over stretches of time, which are given in order and do not overlap. */
export function timeAxis(runs: readonly { readonly from: number; readonly to: number }[]): TimeAxis {
  const worked = runs.reduce((sum, { from, to }) => sum + to - from, 0);
  const widest = Math.max(1, worked * GAP_SHARE);
  const stretches: AxisStretch[] = [];
  let at = 0;
  for (const { from, to } of runs) {
    const before = stretches.at(-1);
    const idleBefore = before === undefined ? 0 : Math.max(0, from - before.to);
    at += Math.min(widest, idleBefore);
    stretches.push({ from, to, at, idleBefore });
    at += to - from;
  }
  return { stretches, length: Math.max(1, at) };
}

/** The place of a moment on an axis; one in a pause is where the next stretch begins. */
export function placeOf({ stretches, length }: TimeAxis, time: number): number {
  let low = 0;
  let high = stretches.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stretches[middle]?.to ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  const stretch = stretches[low];
  if (stretch === undefined) return length;
  return stretch.at + Math.max(0, time - stretch.from);
}
