/** A part of a whole: `12 %`. */
export function percentText(part: number, whole: number): string {
  if (whole <= 0) return "0 %";
  const percent = (part / whole) * 100;
  return percent > 0 && percent < 0.95 ? "<1 %" : `${Math.round(percent)} %`;
}

const STEPS = [1, 2, 5];

/** Round figures from 0 to `most`, about as many as `wanted`. */
export function ticksUpTo(most: number, wanted: number): readonly number[] {
  if (!(most > 0)) return [0];
  const rough = most / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((each) => each * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_none, at) => at * step);
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const TIME_STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400].map(
  (seconds) => seconds * SECOND,
);

/** Moments on an axis between two places, at round distances, about as many as `wanted`. */
export function timeTicks(from: number, to: number, wanted: number): readonly number[] {
  const rough = (to - from) / Math.max(1, wanted);
  const step =
    rough < SECOND
      ? (ticksUpTo(to - from, wanted)[1] ?? to - from)
      : (TIME_STEPS.find((each) => each >= rough) ?? Math.ceil(rough / (24 * HOUR)) * 24 * HOUR);
  const first = Math.ceil(from / step);
  return Array.from(
    { length: Math.max(0, Math.floor(to / step) - first + 1) },
    (_none, at) => (first + at) * step,
  );
}

/** Values one behind the other: where each begins and ends. */
export function stacked(values: readonly number[]): readonly (readonly [from: number, to: number])[] {
  let sum = 0;
  return values.map((value) => {
    const from = sum;
    sum += value;
    return [from, sum];
  });
}
