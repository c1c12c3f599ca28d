import { type Context, createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Words, wordsAt } from "./word-table.ts";

export type { Words };

/** The languages of the page, as browsers name them. */
export const LANGUAGES = ["en", "zh"] as const;

export type Language = (typeof LANGUAGES)[number];

export const WORDS: { readonly [L in Language]: Words } = { en: wordsAt(0), zh: wordsAt(1) };

/** The best language for a person, given their preferences in order. */
export function languageFor(wanted: readonly string[]): Language {
  for (const each of wanted) {
    const known = LANGUAGES.find((language) => each.toLowerCase().split("-")[0] === language);
    if (known !== undefined) return known;
  }
  return "en";
}

export const LanguageContext: Context<Language> = createContext<Language>("en");

export function useWords(): Words {
  return WORDS[useContext(LanguageContext)];
}

export interface Formats {
  /** `123`, and from a thousand `12.3k`. */
  readonly count: (value: number) => string;
  /** US dollars: `$0.08`, `<$0.01`. */
  readonly money: (usd: number) => string;
  /** `12 ms`, `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
  readonly duration: (milliseconds: number) => string;
  /** `0:40`, `3:44`, `1:02:03`: for figures and axes. */
  readonly stopwatch: (milliseconds: number) => string;
  /** Like duration, in whole seconds from one: for running counters. */
  readonly seconds: (milliseconds: number) => string;
  /** The time since something: `40 s`, `9 min`, `2 h 10 min`. */
  readonly age: (milliseconds: number) => string;
  /** Day and time; only the time if it is today. */
  readonly moment: (time: number, now: number) => string;
  /** A calendar day, given as its midnight in UTC: `29 Oct`. */
  readonly date: (day: number) => string;
  readonly clock: (time: number) => string;
  readonly day: (time: number, now: number, words: Pick<Words, "today" | "yesterday">) => string;
}

export function formatsFor(language: Language): Formats {
  const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
  const time = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const day = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
  const date = new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long" });
  const ofYear = new Intl.DateTimeFormat(language === "en" ? "en-GB" : language, {
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  });
  return {
    date: (at) => (Number.isFinite(at) ? ofYear.format(at) : ""),
    clock: (at) => (Number.isFinite(at) ? time.format(at) : ""),
    day: (at, now, { today, yesterday }) => {
      if (!Number.isFinite(at)) return "";
      const name = day.format(at);
      if (name === day.format(now)) return today;
      if (name === day.format(new Date(now).setHours(-12))) return yesterday;
      return Math.abs(now - at) < HALF_YEAR_MS ? date.format(at) : name;
    },
    count: (value) => short.format(value < 1_000 ? Math.round(value) : value).replace("K", "k"),
    money: (usd) => moneyText(usd),
    duration: (milliseconds) => durationText(milliseconds, UNITS[language]),
    stopwatch: (milliseconds) => stopwatchText(Math.round(Math.max(0, milliseconds) / 1_000)),
    seconds: (milliseconds) =>
      durationText(Math.max(1_000, Math.round(milliseconds / 1_000) * 1_000), UNITS[language]),
    age: (milliseconds) => {
      const whole = Math.max(1, Math.round(milliseconds / 1_000));
      const { minute } = UNITS[language];
      const isMinutes = whole >= 60 && whole < 3_600;
      return isMinutes ? `${Math.floor(whole / 60)}${minute}` : durationText(1_000 * whole, UNITS[language]);
    },
    moment: (at, now) => {
      if (!Number.isFinite(at)) return "";
      const clock = time.format(at);
      return day.format(at) === day.format(now) ? clock : `${day.format(at)} ${clock}`;
    },
  };
}

const HALF_YEAR_MS = 180 * 86_400_000;

const FORMATS: { readonly [L in Language]: Formats } = { en: formatsFor("en"), zh: formatsFor("zh") };

export function useFormats(): Formats {
  return FORMATS[useContext(LanguageContext)];
}

export function useLanguage(): Formats & { readonly words: Words } {
  return { ...useFormats(), words: useWords() };
}

interface Units {
  readonly millisecond: string;
  readonly second: string;
  readonly minute: string;
  readonly hour: string;
}

const UNITS: { readonly [L in Language]: Units } = {
  en: { millisecond: " ms", second: " s", minute: " min", hour: " h" },
  zh: { millisecond: " 毫秒", second: " 秒", minute: " 分", hour: " 小时" },
};

function durationText(milliseconds: number, { millisecond, second, minute, hour }: Units): string {
  if (milliseconds < 99.5) return `${Math.max(0, Math.round(milliseconds))}${millisecond}`;
  const seconds = Math.max(0, milliseconds) / 1_000;
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))}${second}`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}${second}`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}${minute} ${whole % 60}${second}`;
  return `${Math.floor(minutes / 60)}${hour} ${minutes % 60}${minute}`;
}

function stopwatchText(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

function moneyText(usd: number): string {
  return usd > 0 && usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;
}
