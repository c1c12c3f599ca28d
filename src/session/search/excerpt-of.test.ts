import { expect, test } from "vitest";
import { createRedaction } from "../../permission/secrets/create-redaction.ts";
import { excerptOf } from "./search-words.ts";

const KEY = `sk-ant-api03-${"aB3dE6gH9jK2".repeat(7)}xyzAA`;
const redaction = createRedaction();

test("no part of a key is in a piece of a text, wherever it would be cut", () => {
  const shown: string[] = [];
  for (let before = 0; before < 130; before++)
    for (const wanted of ["needle", "haystack", KEY.slice(30, 50), `${KEY.slice(20, 30)} word`])
      shown.push(excerptOf(`${"word ".repeat(before)}${KEY} needle ${KEY} haystack`, wanted, redaction));
  expect(shown.filter((text) => /aB3|dE6|gH9|jK2|xyzAA/.test(text))).toEqual([]);
});

test("words that were taken out are answered with the beginning", () => {
  const text = `The beginning. ${"word ".repeat(100)}${KEY}`;
  expect(excerptOf(text, KEY.slice(30, 50), redaction)).toMatch(/^The beginning\. word .*…$/);
});

test("without a redaction the text is shown as it is", () => {
  expect(excerptOf(`a ${KEY}\n\n needle`, "needle", undefined)).toBe(`…${KEY.slice(-57)} needle`);
});
