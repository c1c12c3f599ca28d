import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createListSerialiser, serialiseOnce } from "./serialise-once.ts";

interface Item {
  readonly text: string;
}

describe("serialiseOnce", () => {
  it("writes each object once, by identity", () => {
    const written: string[] = [];
    const write = serialiseOnce<Item>((item) => {
      written.push(item.text);
      return `<${item.text}>`;
    });
    const a = { text: "a" };
    expect([write(a), write(a), write({ text: "a" })]).toEqual(["<a>", "<a>", "<a>"]);
    expect(written).toEqual(["a", "a"]);
  });
});

describe("createListSerialiser", () => {
  it("gives for any lists, in any order, what writing them from the start gives", () => {
    const pool: readonly Item[] = ["a", "b", "c", "d", "e"].map((text) => ({ text }));
    const list = fc.array(fc.constantFrom(...pool), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(list, { maxLength: 10 }), fc.nat(3), (lists, tail) => {
        const serialise = createListSerialiser<Item, number>(
          0,
          (text, item, count) => ({ text: `${text}${count}${item.text}`, state: count + 1 }),
          tail,
        );
        for (const items of lists) {
          const written = Math.max(0, items.length - tail);
          const text = items
            .slice(0, written)
            .map((item, index) => `${index}${item.text}`)
            .join("");
          expect(serialise(items)).toEqual({ text, state: written, written });
        }
      }),
    );
  });

  it("writes only what is new of a list that grows", () => {
    let appended = 0;
    const serialise = createListSerialiser<Item, null>(
      null,
      (text, item) => ({ text: text + item.text + String(++appended), state: null }),
      1,
    );
    const items: Item[] = [];
    for (let count = 0; count < 50; count++) {
      items.push({ text: "x" });
      serialise([...items]);
    }
    expect(appended).toBe(49);
  });
});
