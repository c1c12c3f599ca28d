import { createContext } from "preact";

/** True when a picture is drawn once, for a file: all of it, without what a person could choose. */
export const StillContext: ReturnType<typeof createContext<boolean>> = createContext(false);

/** A part of a whole: `12%`. */
export function percentText(part: number, whole: number): string {
  if (whole <= 0) return "0%";
  const percent = (part / whole) * 100;
  return percent > 0 && percent < 0.95 ? "<1%" : `${Math.round(percent)}%`;
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

/** Values one after the other: where each begins and ends. */
export function stacked(values: readonly number[]): readonly (readonly [from: number, to: number])[] {
  let sum = 0;
  return values.map((value) => {
    const from = sum;
    sum += value;
    return [from, sum];
  });
}

/** A place in a picture, as SVG has it: at most two digits after the point. */
export function place(value: number): string {
  return `${Number(value.toFixed(2))}%`;
}
