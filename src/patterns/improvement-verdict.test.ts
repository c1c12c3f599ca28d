import fc from "fast-check";
import { expect, test } from "vitest";
import { saysNoImprovement } from "./reflection-agent.ts";

test.each([
  "无需改进",
  "这个回答不错，无需改进。",
  "虽然不是很长，但无需改进",
  "There is no need for improvement.",
  "No  need for\nimprovement!",
  "It is not perfect, but there is no need for improvement.",
  "This isn't bad. I see no need for improvement.",
  "I do not say it lightly: no need for improvement",
  "That was not so before. Now: NO NEED FOR IMPROVEMENT.",
  "After careful review I would say there is no need for improvement.",
  "If you ask me about the dates: they are right. No need for improvement.",
  "No need for improvement, but thank you for the care.",
  "检查之后，无需改进",
  "無須改進",
])("nothing is to be improved: %s", (text) => {
  expect(saysNoImprovement(text)).toBe(true);
});

test.each([
  "",
  "There is a need for improvement.",
  "需要改进",
  "这并不是说无需改进",
  "并非无需改进。",
  "我不认为这个回答无需改进。",
  "不能说无需改进",
  "I would not say there is no need for improvement.",
  "I can't say that there is no need for improvement",
  "I don’t think there's no need for improvement.",
  "It is far from “no need for improvement”.",
  "No need for improvement? Hardly: the dates are wrong.",
  "无需改进？不，日期错了。",
  "无需改进的说法不成立。",
  "If you mend the date, there is no need for improvement.",
  "Once the date is right, no need for improvement.",
  "如果补充例子，就无需改进",
  "修改后才无需改进",
  "还远未到无需改进的地步",
  "第一段无需改进，但第二段需要补充",
  "No need for improvement in the first part, but the second needs a date.",
])("something is to be improved: %s", (text) => {
  expect(saysNoImprovement(text)).toBe(false);
});

test("the phrase counts in any case and at any place, with words around it that negate nothing", () => {
  const words = fc.stringMatching(/^[a-eg-m 的好]{0,60}$/);
  const phrase = fc
    .tuple(fc.constantFrom("无需改进", "no need for improvement"), fc.boolean())
    .map(([text, upper]) => (upper ? text.toUpperCase() : text));
  fc.assert(
    fc.property(words, phrase, words, (before, said, after) => {
      expect(saysNoImprovement(`${before} ${said}, ${after}`)).toBe(true);
      expect(saysNoImprovement(`It does not mean ${said}, ${after}`)).toBe(false);
      expect(saysNoImprovement(`${before}\n并不意味着${said}，${after}`)).toBe(false);
    }),
  );
});

test("text without the phrase never counts", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      fc.pre(!/[无無][需须須]改[进進]|no\s+need/i.test(text));
      expect(saysNoImprovement(text)).toBe(false);
    }),
  );
});
