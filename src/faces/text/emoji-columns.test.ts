import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { columnsOf } from "./columns.ts";

const require = createRequire(import.meta.url);
const emoji = require("unicode-emoji-json/data-by-emoji.json") as Readonly<
  Record<string, { readonly skin_tone_support: boolean }>
>;
const tones = ["🏻", "🏼", "🏽", "🏾", "🏿"];

test("every emoji of Unicode takes two columns, in every tone of skin", () => {
  const all = Object.entries(emoji).flatMap(([one, { skin_tone_support: hasTones }]) => {
    const [first = "", ...rest] = one;
    // The tone takes the place of the sign that asks for a picture.
    const tail = rest[0] === "\uFE0F" ? rest.slice(1) : rest;
    return hasTones ? [one, ...tones.map((tone) => [first, tone, ...tail].join(""))] : [one];
  });
  expect(all.length).toBeGreaterThan(3_000);
  expect(all.filter((one) => columnsOf(one) !== 2)).toEqual([]);
});
