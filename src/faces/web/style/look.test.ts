import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const SHEETS = ["look.css", "page.css"]
  .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"))
  .join("\n")
  .replaceAll(/\/\*[^]*?\*\//g, "");

type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** The colours of the style sheet in one theme, by the name of their variable. */
function tokensOf(theme: "light" | "dark"): ReadonlyMap<string, Colour> {
  const found = SHEETS.matchAll(/--([\w-]+): light-dark\((#\w+), (#\w+)\);/g);
  return new Map(
    [...found].map(([, name = "", light = "", dark = ""]) => [name, colourOf({ light, dark }[theme])]),
  );
}

function colourOf(hex: string): Colour {
  const digits = hex.length < 6 ? hex.replaceAll(/\w/g, "$&$&") : hex;
  const [red = 0, green = 0, blue = 0, alpha = 255] = (digits.match(/\w\w/g) ?? []).map((each) =>
    Number(`0x${each}`),
  );
  return [red, green, blue, alpha / 255];
}

/** A colour that lets the ground through, as it is seen. */
function over([red, green, blue, alpha]: Colour, ground: Colour): Colour {
  const mix = (own: number, below: number): number => own * alpha + below * (1 - alpha);
  return [mix(red, ground[0]), mix(green, ground[1]), mix(blue, ground[2]), 1];
}

/** The contrast of WCAG 2.2: 1 to 21. */
function contrast(left: Colour, right: Colour): number {
  const light = ([red, green, blue]: Colour): number => {
    const [r = 0, g = 0, b = 0] = [red, green, blue].map((each) => {
      const share = each / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [high = 0, low = 0] = [light(left), light(right)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

const PAGE = ["bg", "rail", "raised", "sunken"];
const CODE = ["ink", "k", "s", "n", "f", "c"];

/** Texts, and every ground that they stand on. */
const TEXTS: readonly (readonly [texts: readonly string[], grounds: readonly string[]])[] = [
  [["ink", "ink-2", "ink-3"], PAGE],
  [["run", "wait", "ok", "fail", "cut"], PAGE],
  [CODE, [...PAGE, "add", "del", "add-w", "del-w"]],
  [["ink-3"], ["add", "del"]],
  [["ok"], ["add"]],
  [["fail"], ["del"]],
  [["ink", "ink-2", "ink-3", "wait"], ["wait-bg"]],
  [["on-ink"], ["ink", "ink-2"]],
];
const MARKS = ["edge", "wait-mark", "t-edit", "t-bash", "t-fail", "t-think", "t-model", "t-look", "t-wait"];

describe.each(["light", "dark"] as const)("in %s colours", (theme) => {
  const tokens = tokensOf(theme);
  const of = (name: string): Colour => {
    const colour = tokens.get(name);
    if (colour === undefined) throw new Error(`look.css has no --${name}`);
    return colour;
  };
  const weak = (text: string, ground: string, least: number): readonly string[] => {
    const ratio = contrast(of(text), over(of(ground), of("bg")));
    return ratio < least ? [`${text} on ${ground}: ${ratio.toFixed(2)}`] : [];
  };

  test("every text can be read on every ground it stands on", () => {
    expect(tokens.size).toBeGreaterThan(30);
    const pairs = TEXTS.flatMap(([texts, grounds]) =>
      texts.flatMap((text) => grounds.map((ground) => [text, ground] as const)),
    );
    expect(pairs.flatMap(([text, ground]) => weak(text, ground, 4.5))).toEqual([]);
  });

  test("every rule that sets a text and its ground keeps them apart", () => {
    const rules = [...SHEETS.matchAll(/{([^{}]*)}/g)].flatMap(([, body = ""]) => {
      const text = /(?:^|[;\s])color: var\(--([\w-]+)\)/.exec(body)?.[1];
      const ground = /background: var\(--([\w-]+)\)/.exec(body)?.[1];
      return text !== undefined && ground !== undefined ? [[text, ground] as const] : [];
    });
    expect(rules.length).toBeGreaterThan(10);
    expect(rules.flatMap(([text, ground]) => weak(text, ground, 4.5))).toEqual([]);
  });

  test("marks and outlines of fields can be seen", () => {
    expect(MARKS.flatMap((mark) => ["bg", "raised"].flatMap((ground) => weak(mark, ground, 3)))).toEqual([]);
  });
});
