const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const FORM = String.raw`^\s*(?!0+(?:\.0+)?[a-z])(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)\s*$`;

/** The schema of a duration. */
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
