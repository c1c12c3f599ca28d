import { expect, test } from "vitest";
import { HeadIndex } from "./head-index.ts";

test("of many patterns only those are tried that begin like the text, and the first of the list is found", () => {
  const heads = [
    "git ",
    "git push",
    "gi",
    "",
    "ls ",
    ...Array.from({ length: 500 }, (_, index) => `x${index} `),
  ];
  const index = new HeadIndex(heads.map((head) => [head, head] as const));
  const tried: string[] = [];
  const found = index.find("git push origin", (head) => {
    tried.push(head);
    return head !== "git ";
  });
  expect(found).toBe("git push");
  expect(tried).toEqual(["git ", "git push"]);
  expect(index.find("g", () => true)).toBe("");
  expect(index.find("x7 a", (head) => head !== "")).toBe("x7 ");
});
