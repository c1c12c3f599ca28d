import fc from "fast-check";
import { expect, test } from "vitest";
import { AbortedAnswer } from "../core/agent/run.ts";
import type { StreamPart } from "../core/model/model.ts";
import { RepetitionDetector, repetitionIn } from "./loop-guard.ts";

const SENTENCE = "I will now look at the file. ";

/** Feeds a text in pieces; what ended it and after how many characters, or undefined. */
function fed(
  text: string,
  options: { readonly size?: number; readonly type?: "text_delta" | "thinking_delta" } = {},
): { readonly passage: string; readonly at: number } | undefined {
  const { size = 7, type = "text_delta" } = options;
  const guard = new RepetitionDetector();
  for (let at = 0; at < text.length; at += size) {
    try {
      guard.add({ type, index: 0, text: text.slice(at, at + size) });
    } catch (error) {
      if (!(error instanceof AbortedAnswer)) throw error;
      const [, passage = '""'] = /^The model wrote (.*) \d+ times in a row\.$/.exec(error.message) ?? [];
      return { passage: JSON.parse(passage), at: at + size };
    }
  }
  return undefined;
}

test.each([1, 7, 1_000, 100_000])("a sentence without end is found, in pieces of %i characters", (size) => {
  const found = fed(`Let me see. ${SENTENCE.repeat(10_000)}`, { size });
  expect(found?.passage).toBe(SENTENCE);
  expect(found?.at).toBeLessThan(9_200 + size);
});

test.each([
  "我现在来看一下这个文件。",
  "我现在来看一下这个文件。\n",
  "我来看，这个文件\n",
  "今からこのファイルを見てみます。",
  "コンピューターのファイルを見る！",
  "ตอนนี้ฉันจะดูไฟล์นี้\n",
])("a sentence of a script without blanks is found: %j", (sentence) => {
  const found = fed(`好。${sentence.repeat(2_000)}`);
  expect(found === undefined ? "" : (found.passage + found.passage).includes(sentence)).toBe(true);
  expect(found?.at).toBeLessThan(9_300);
});

test("the passage of Chinese begins with its sentence", () => {
  expect(fed("我现在来看一下这个文件。".repeat(2_000))?.passage).toBe("我现在来看一下这个文件。");
});

test("reasoning counts as well, arguments of calls do not", () => {
  expect(fed(SENTENCE.repeat(400), { type: "thinking_delta" })?.passage).toBe(SENTENCE);
  const part: StreamPart = { type: "tool_call_delta", index: 0, json: SENTENCE.repeat(1_000) };
  expect(() => new RepetitionDetector().add(part)).not.toThrow();
});

test.each([
  ["a ruler", "-".repeat(20_000)],
  ["padding", "0123456789".repeat(10_000)],
  ["one word", "drip ".repeat(10_000)],
  ["a table of figures", "| 0 | 0 | 0 |\n".repeat(2_000)],
  ["numbered lines", Array.from({ length: 3_000 }, (_, at) => `This is line number ${at}.`).join("\n")],
  ["a ruler of full stops", "。".repeat(20_000)],
  ["a ruler of wide dashes", `${"－".repeat(78)}\n`.repeat(300)],
  ["a ruler of long vowels", `${"ー".repeat(60)}\n`.repeat(400)],
  ["a ruler of the figure one", `+${"一".repeat(60)}+\n`.repeat(400)],
  ["one Chinese word", "测试数据".repeat(5_000)],
  ["a table of Chinese words", "|是|否|无|没有|\n".repeat(2_000)],
  [
    "a Chinese table",
    Array.from({ length: 1_500 }, (_, at) => `| 第${at}项 | 这一项还没有完成 |`).join("\n"),
  ],
  ["a Chinese list", Array.from({ length: 1_500 }, (_, at) => `${at}. 修改文件中的函数名称`).join("\n")],
  ["a Japanese list", Array.from({ length: 1_500 }, (_, at) => `・ファイル${at}を修正します`).join("\n")],
  ["a few repetitions in Chinese", "我现在来看一下这个文件。".repeat(400)],
  [
    "Chinese prose",
    Array.from({ length: 1_200 }, (_, at) => {
      const pick = (words: readonly string[]): string => words[(at * at + 3 * at) % words.length] ?? "";
      return `${pick(["我们", "他们", "程序", "文件"])}在第${at}次运行时${pick(["读取", "修改", "检查"])}了配置。`;
    }).join(""),
  ],
  ["a few repetitions", SENTENCE.repeat(150)],
  ["a long refrain", `${Array.from({ length: 120 }, (_, at) => `word${at} and`).join(" ")}\n`.repeat(18)],
])("%s is not an endless sentence", (_name, text) => {
  expect(fed(text)).toBeUndefined();
});

test("text that does not repeat itself is never found, however it is put together", () => {
  const word = fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" });
  fc.assert(
    fc.property(fc.array(word, { minLength: 50, maxLength: 300 }), (words) => {
      const text = words.flatMap((each, at) => [each, `${at} of those things`]).join(" ");
      expect(repetitionIn(text.repeat(3))).toBeUndefined();
    }),
  );
});

test("whatever is repeated, what is found stands at the end of the text that often", () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{2,9}$/), { minLength: 3, maxLength: 30 });
  fc.assert(
    fc.property(words, fc.nat(50), (sentence, cut) => {
      const passage = `${sentence.join(" ")}. `;
      const text = passage.repeat(Math.ceil(9_000 / passage.length));
      const found = repetitionIn(text.slice(0, text.length - cut));
      expect(found === undefined ? 0 : found.times).toBeGreaterThanOrEqual(20);
    }),
  );
});
