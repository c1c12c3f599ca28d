import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePlan } from "./plan-and-solve-agent.ts";

/** Steps without line breaks that could not be taken for a marker of a list. */
const step = fc
  .stringMatching(/^[A-Za-z查找写][A-Za-z 查找写,()]{0,40}[A-Za-z查找写]$/)
  .filter((text) => !/^step/i.test(text));
const steps = fc.array(step, { minLength: 1, maxLength: 60 });

const CHINESE = "一二三四五六七八九";
const styles: readonly (readonly [string, (text: string, at: number) => string])[] = [
  ["1. x", (text, at) => `${at + 1}. ${text}`],
  ["1) x", (text, at) => `${at + 1}) ${text}`],
  ["1、x", (text, at) => `${at + 1}、${text}`],
  ["(1) x", (text, at) => `(${at + 1}) ${text}`],
  ["Step 1: x", (text, at) => `Step ${at + 1}: ${text}`],
  ["步骤1：x", (text, at) => `步骤${at + 1}：${text}`],
  ["第一步：x", (text, at) => `第${CHINESE[at % 9] ?? ""}步：${text}`],
  ["① x", (text, at) => `${String.fromCodePoint(0x2460 + (at % 20))} ${text}`],
  ["- x", (text) => `- ${text}`],
  ["* x", (text) => `* ${text}`],
];

test.each(styles)(
  "a list in the style %s is read as it was written, whatever stands around it",
  (_name, write) => {
    fc.assert(
      fc.property(steps, fc.boolean(), fc.constantFrom("\n", "\r\n", "\n\n"), (plan, framed, separator) => {
        const list = plan.map(write).join(separator);
        expect(parsePlan(framed ? `Here is my plan:\n\n${list}\n\nShall I begin?` : list)).toEqual(plan);
      }),
    );
  },
);

test("JSON is read, bare, in an object or in a fence", () => {
  fc.assert(
    fc.property(steps, (plan) => {
      expect(parsePlan(JSON.stringify(plan))).toEqual(plan);
      expect(parsePlan(JSON.stringify({ steps: plan }))).toEqual(plan);
      expect(parsePlan(`My plan is ${JSON.stringify(plan)}. Shall I?`)).toEqual(plan);
      expect(parsePlan(`Sure:\n\`\`\`json\n${JSON.stringify(plan, null, 2)}\n\`\`\`\nGo?`)).toEqual(plan);
    }),
  );
});

test("any text gives steps that are trimmed and not empty", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      for (const each of parsePlan(text)) expect([each.trim(), each !== ""]).toEqual([each, true]);
    }),
  );
});

test("an array inside a step of a list is a part of the step", () => {
  expect(parsePlan('1. Send ["a"]\n2. Read it')).toEqual(['Send ["a"]', "Read it"]);
});

test("what stands below an item belongs to it", () => {
  const text = "1. **Search**\n   - the web\n   in two languages\n2. Write\n- short\n\nThat is all.";
  expect(parsePlan(text)).toEqual(["**Search**\n- the web\nin two languages", "Write\n- short"]);
});

test.each([
  "",
  "I cannot plan this.",
  "In 2024 there were 3.5 million.",
  "3.5 million",
  "[1, 2]",
  '{"steps": "x"}',
])("there is no plan in: %s", (text) => {
  expect(parsePlan(text)).toEqual([]);
});

test("a long text without a list takes no time worth speaking of", () => {
  expect(parsePlan("步骤 ".repeat(200_000))).toEqual([]);
  expect(parsePlan("```".repeat(200_000))).toEqual([]);
});
