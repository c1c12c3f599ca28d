const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The form of a duration, for messages. */
export const DURATION_FORM = 'a time such as "90s", "10m" or "1h"';

/** Milliseconds of `500ms`, `90s`, `10m`, `1.5h`; `undefined` for anything else, zero included. */
export function parseDuration(text: string): number | undefined {
  const [, figure, unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  const milliseconds = Math.round(Number(figure) * (UNITS[unit] ?? Number.NaN));
  // Timers hold 31 bits; a longer limit would fire at once.
  return milliseconds >= 1 && milliseconds <= 2 ** 31 - 1 ? milliseconds : undefined;
}
