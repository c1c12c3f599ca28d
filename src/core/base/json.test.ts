import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  canonicalJson,
  equalJson,
  isRecord,
  MAX_JSON_DEPTH,
  ownValue,
  parseToolInput,
  safeParse,
} from "./json.ts";

describe("safeParse", () => {
  it("returns the value of valid JSON and a reason for anything else", () => {
    expect(safeParse('{"a":[1]}')).toEqual({ ok: true, value: { a: [1] } });
    expect(safeParse("{a}")).toMatchObject({ ok: false, error: expect.stringContaining("JSON") });
  });

  it("refuses nesting that could not be written again, without overflowing the stack", () => {
    const deep = "[".repeat(100_000);
    expect(safeParse(deep).ok).toBe(false);
    expect(safeParse(deep + "]".repeat(100_000))).toEqual({
      ok: false,
      error: "nested deeper than 500 levels",
    });
    const allowed = "[".repeat(MAX_JSON_DEPTH) + "]".repeat(MAX_JSON_DEPTH);
    expect(safeParse(allowed).ok).toBe(true);
  });
});

describe("parseToolInput", () => {
  it.each([
    ["", {}],
    [" \n", {}],
    ['{"path":"a"}', { path: "a" }],
    ['"{\\"path\\":\\"a\\"}"', { path: "a" }],
  ])("reads %j as arguments", (text, input) => {
    expect(parseToolInput(text)).toEqual({ input });
  });

  it.each(["null", "[1]", "3", '"text"', '{"a":', '{"a":1}{"b":2}', '"[1]"', "[".repeat(100_000)])(
    "keeps what is not an object as malformed: %j",
    (raw) => {
      expect(parseToolInput(raw)).toEqual({ input: {}, invalid_input: { reason: "malformed", raw } });
    },
  );

  it("believes a whole object of a truncated answer and nothing less", () => {
    expect(parseToolInput('{"a":1}', { truncated: true })).toEqual({ input: { a: 1 } });
    expect(parseToolInput('{"a":', { truncated: true })).toEqual({
      input: {},
      invalid_input: { reason: "truncated", raw: '{"a":' },
    });
    expect(parseToolInput("", { truncated: true })).toEqual({
      input: {},
      invalid_input: { reason: "truncated", raw: "" },
    });
  });

  it("keeps a __proto__ key an ordinary key", () => {
    const { input } = parseToolInput('{"__proto__":{"admin":true}}');
    expect(Object.keys(input)).toEqual(["__proto__"]);
    expect(input["admin"]).toBeUndefined();
  });

  it("returns every object unchanged, written once or twice, and never throws", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const text = JSON.stringify(object);
        const value: unknown = JSON.parse(text);
        expect(parseToolInput(text)).toEqual({ input: value });
        expect(parseToolInput(JSON.stringify(text))).toEqual({ input: value });
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.boolean(), (text, truncated) => {
        expect(isRecord(parseToolInput(text, { truncated }).input)).toBe(true);
      }),
    );
  });
});

describe("equalJson", () => {
  it("takes dates for equal by their time, and other objects that JSON has no words for by themselves alone", () => {
    const map = new Map([["a", 1]]);
    expect([
      equalJson({ on: new Date(1) }, { on: new Date(1) }),
      equalJson({ on: new Date(1) }, { on: new Date(2) }),
      equalJson({ on: new Date(1) }, { on: {} }),
      equalJson({ map }, { map }),
      equalJson({ map }, { map: new Map([["a", 2]]) }),
      equalJson(new Set([1]), {}),
      equalJson(Object.create(null), {}),
    ]).toEqual([true, false, false, true, false, false, true]);
  });

  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(null, true, false, 0, 1, "", "a", "__proto__"),
      fc.array(tie("any"), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom("a", "b", "__proto__", "constructor"),
        fc.option(tie("any"), { nil: undefined }),
        {
          maxKeys: 3,
        },
      ),
    ),
  })).any;

  it("holds exactly where the canonical texts are equal", () => {
    fc.assert(
      fc.property(value, value, (one, other) => {
        expect(equalJson(one, other)).toBe(canonicalJson(one) === canonicalJson(other));
      }),
      { numRuns: 2_000 },
    );
  });

  it("holds for a copy with its keys in another order", () => {
    const turned = (item: unknown): unknown => {
      if (Array.isArray(item)) return item.map(turned);
      if (!isRecord(item)) return item;
      return Object.fromEntries(
        Object.entries(item)
          .reverse()
          .map(([key, field]) => [key, turned(field)]),
      );
    };
    fc.assert(
      fc.property(value, (one) => {
        expect(equalJson(one, turned(one))).toBe(true);
      }),
    );
  });
});

describe("ownValue", () => {
  it.each(["constructor", "toString", "__proto__", "hasOwnProperty", "b", 1, undefined])(
    "finds nothing under %s that only every object has",
    (key) => {
      expect([ownValue({ a: 1 }, key), ownValue({ a: 1 }, "a")]).toEqual([undefined, 1]);
    },
  );
});
