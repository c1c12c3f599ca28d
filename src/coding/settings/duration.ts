const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

// Timers hold 31 bits, some 24 days: a longer limit would end a run at once.
const LONGEST = String.raw`(?=\d{1,9}(?:\.\d+)?ms|\d{1,6}(?:\.\d+)?s|\d{1,4}(?:\.\d+)?m|[1-4]?\d{1,2}(?:\.\d+)?h)`;
const FORM = String.raw`^\s*(?!0+(?:\.0+)?[a-z])${LONGEST}(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)\s*$`;

export const DURATION: { readonly type: "string"; readonly pattern: string; readonly "x-say": string } = {
  type: "string",
  pattern: FORM,
  "x-say": 'a time such as "90s", "10m" or "1h"',
};

/** Milliseconds of `500ms`, `90s`, `10m`, `1.5h`; `undefined` for anything else, zero included. */
export function parseDuration(text: string): number | undefined {
  const [, figure, unit = ""] = new RegExp(FORM).exec(text) ?? [];
  return figure === undefined ? undefined : Math.max(1, Math.round(Number(figure) * (UNITS[unit] ?? 1)));
}
