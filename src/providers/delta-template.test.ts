import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDeltaTemplate } from "./server-events.ts";

function event(text: string, more: object = {}): string {
  return JSON.stringify({ id: "c", choices: [{ delta: { content: text } }], ...more });
}

describe("a template", () => {
  it("recognises nothing before it has learned", () => {
    expect(createDeltaTemplate([]).match(event("a"))).toBeUndefined();
  });

  it("recognises events that differ in the text alone, whatever the text is", () => {
    const template = createDeltaTemplate([]);
    template.learn(event('first "one"'), "content");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(template.match(event(text))).toBe(text);
      }),
    );
  });

  it("never takes an event for another one", () => {
    const template = createDeltaTemplate(["seq", "pad"]);
    const value = (event: string): string =>
      JSON.stringify({ ...JSON.parse(event), seq: 0, pad: "", text: "" });
    const shape = fc.record({
      seq: fc.oneof(fc.nat(), fc.string(), fc.constant(null)),
      text: fc.oneof(fc.string(), fc.constant('","x":"'), fc.constant(null)),
      pad: fc.oneof(fc.string(), fc.nat(), fc.constant("\\")),
      x: fc.oneof(fc.constant("y"), fc.string()),
    });
    fc.assert(
      fc.property(shape, shape, (left, right) => {
        const learned = JSON.stringify(left);
        const seen = JSON.stringify(right);
        template.learn(learned, "text");
        const text = template.match(seen);
        if (text === undefined) return;
        expect([text, value(seen)]).toEqual([right.text, value(learned)]);
      }),
    );
  });

  it("looks past numbers and padding that it was told to ignore", () => {
    const template = createDeltaTemplate(["seq", "pad"]);
    template.learn(event("a", { seq: 1, pad: "xx" }), "content");
    expect(template.match(event("b", { seq: 27, pad: "" }))).toBe("b");
  });

  it.each([
    ["another field", event("b", { usage: {} })],
    ["a cut event", event("b").slice(0, -1)],
    ["something behind it", `${event("b")}}`],
    ["a bare control character", event("b").replace("b", "\t")],
    ["an escape that does not exist", event("b").replace("b", "\\x")],
    ["no text", event("b").replace('"b"', "null")],
  ])("does not recognise %s", (_, data) => {
    const template = createDeltaTemplate([]);
    template.learn(event("a"), "content");
    expect(template.match(data)).toBeUndefined();
  });

  it("does not learn where the place of the text is not certain", () => {
    const template = createDeltaTemplate([]);
    const twice = event("a", { logprobs: { content: [] } });
    template.learn(twice, "content");
    expect(template.match(twice)).toBeUndefined();
  });

  it("recognises events that are padded with blanks before their ends", () => {
    const template = createDeltaTemplate([]);
    template.learn('{"delta":{"content":"a"} }', "content");
    fc.assert(
      fc.property(fc.string(), fc.nat(9), (text, pad) => {
        const blanks = " ".repeat(pad);
        expect(template.match(`{"delta":{"content":${JSON.stringify(text)}${blanks}}${blanks}}`)).toBe(text);
      }),
    );
  });

  it("allows blanks after the colon", () => {
    const template = createDeltaTemplate([]);
    template.learn('{"delta": {"content": "a"}}', "content");
    expect(template.match('{"delta": {"content": "b\\n"}}')).toBe("b\n");
  });
});
