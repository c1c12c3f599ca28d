import { expect, test } from "vitest";
import { formatsFor, LANGUAGES, languageFor, WORDS } from "./language.ts";

/** Every text of a language, by its path; functions are given something to speak of. */
function textsOf(value: unknown, path: string): readonly (readonly [string, string])[] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value === "function") return [[path, String(value(2, "x", "y"))]];
  return Object.entries(value as object).flatMap(([name, inner]) => textsOf(inner, `${path}.${name}`));
}

test.each(LANGUAGES)("%s has a word for everything, and every word says something", (language) => {
  const texts = textsOf(WORDS[language], "words");
  expect(texts.map(([path]) => path)).toEqual(textsOf(WORDS.en, "words").map(([path]) => path));
  expect(texts.filter(([, text]) => text.trim() === "" || /undefined|\[object/.test(text))).toEqual([]);
});

test("no English was left in Chinese", () => {
  const english = new Map(textsOf(WORDS.en, "words"));
  const left = textsOf(WORDS.zh, "words").filter(([path, text]) => english.get(path) === text);
  expect(left).toEqual([]);
});

test.each([
  [["zh-CN", "en"], "zh"],
  [["ZH-hant-TW"], "zh"],
  [["fr", "zh"], "zh"],
  [["en-GB", "zh"], "en"],
  [["fr", "zhuang"], "en"],
  [[], "en"],
])("who reads %j gets %s", (wanted, language) => {
  expect(languageFor(wanted)).toBe(language);
});

test("amounts are written as people read them", () => {
  const { count, money, duration, stopwatch } = formatsFor("en");
  expect([count(0), count(999), count(12_345), count(3_400_000)]).toEqual(["0", "999", "12.3k", "3.4M"]);
  expect([400, 104_000, 3_723_000].map(stopwatch)).toEqual(["0:00", "1:44", "1:02:03"]);
  expect([money(0), money(0.00013), money(0.0123), money(12.5)]).toEqual([
    "$0.00",
    "<$0.01",
    "$0.01",
    "$12.50",
  ]);
  expect([-5, 12.4, 400, 9_960, 59_600, 185_000, 7_800_000].map(duration)).toEqual([
    "0 ms",
    "12 ms",
    "0.4 s",
    "10 s",
    "1 min 0 s",
    "3 min 5 s",
    "2 h 10 min",
  ]);
  expect(formatsFor("zh").duration(185_000)).toBe("3 分 5 秒");
});

test("a moment of today is its time alone, and one that is none is nothing", () => {
  const { moment } = formatsFor("en");
  const now = new Date(2026, 2, 4, 15, 7).getTime();
  expect(moment(now - 3_600_000, now)).toBe("14:07");
  expect(moment(now - 86_400_000 * 2, now)).toBe("Mar 2, 2026 15:07");
  expect(moment(Number.NaN, now)).toBe("");
});
