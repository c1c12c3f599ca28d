import { describe, expect, it } from "vitest";
import { memoizeByObject } from "./serialise-once.ts";

interface Item {
  readonly text: string;
}

describe("serialiseOnce", () => {
  it("writes each object once, by identity", () => {
    const written: string[] = [];
    const write = memoizeByObject<Item>((item) => {
      written.push(item.text);
      return `<${item.text}>`;
    });
    const a = { text: "a" };
    expect([write(a), write(a), write({ text: "a" })]).toEqual(["<a>", "<a>", "<a>"]);
    expect(written).toEqual(["a", "a"]);
  });
});
