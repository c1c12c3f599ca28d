/** The languages that figures are written in. */
export type FigureLanguage = "en" | "zh";

const UNITS: {
  readonly [language in FigureLanguage]: { readonly [unit in "ms" | "s" | "min" | "h" | "d"]: string };
} = {
  en: { ms: " ms", s: " s", min: " min", h: " h", d: " d" },
  zh: { ms: " 毫秒", s: " 秒", min: " 分", h: " 小时", d: " 天" },
};

/** A length of time: `12 ms`, `3.4 s`, `2 min 5 s`, `3 h 20 min`, `2 d 3 h`. */
export function durationText(ms: number, language: FigureLanguage): string {
  const unit = UNITS[language];
  if (ms < 999.5) return `${Math.round(ms)}${unit.ms}`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)}${unit.s}`;
  const seconds = Math.round(ms / 1_000);
  const pair = (whole: number, first: string, rest: number, second: string): string =>
    rest === 0 ? `${whole}${first}` : `${whole}${first} ${rest}${second}`;
  if (seconds < 3_600) return pair(Math.floor(seconds / 60), unit.min, seconds % 60, unit.s);
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return pair(Math.floor(minutes / 60), unit.h, minutes % 60, unit.min);
  const hours = Math.round(minutes / 60);
  return pair(Math.floor(hours / 24), unit.d, hours % 24, unit.h);
}

/** A count of tokens: `950`, `12.3k`, `1.2M`. */
export function tokensText(tokens: number): string {
  if (tokens < 999.5) return String(Math.round(tokens));
  if (tokens < 999_950) return `${trimmed(tokens / 1_000)}k`;
  return `${trimmed(tokens / 1_000_000)}M`;
}

function trimmed(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1);
}

/** An amount of money: `$0.0042`, `$1.23`; `?` for an unknown price. */
export function costText(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return "?";
  if (usd === 0) return "$0";
  return usd < 0.0001 ? "<$0.0001" : `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

/** A part of a whole: `12 %`. */
export function percentText(part: number, whole: number): string {
  if (whole <= 0) return "0 %";
  const percent = (part / whole) * 100;
  return percent > 0 && percent < 0.95 ? "<1 %" : `${Math.round(percent)} %`;
}

/** A moment: day and time to the second, in the time of the browser. */
export function momentText(time: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
