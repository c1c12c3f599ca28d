import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isNanoAgentError } from "../../src/core/base/errors.ts";
import { assistantMessage, userMessage } from "../../src/core/message/message.ts";
import type { LongTermMemory } from "../../src/memory/long-term-memory.ts";
import { STOP_WORDS } from "../../src/memory/term-reader.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";

/** What the suite asks of a store it opens. */
export interface OpenMemory {
  readonly clock: FakeClock;
  readonly maxRecords?: number;
}

const HOUR = 60 * 60 * 1000;

type Fresh = (maxRecords?: number) => { readonly clock: FakeClock; readonly memory: LongTermMemory };

/** What every long-term memory keeps to; `open` makes an empty one. */
export function describeLongTermMemory(name: string, open: (options: OpenMemory) => LongTermMemory): void {
  const fresh: Fresh = (maxRecords?: number) => {
    const clock = new FakeClock();
    return { clock, memory: open({ clock, ...(maxRecords === undefined ? {} : { maxRecords }) }) };
  };
  describe(`${name} as a long-term memory`, () => {
    describeSearch(fresh);
    describeRanking(fresh);
    describeKeeping(fresh);
    describeBounds(fresh);
    describeAnyText(fresh);
  });
}

function describeSearch(fresh: Fresh): void {
  it("finds nothing while it is empty, and nothing for a query without a word", async () => {
    const { memory } = fresh();
    expect(await memory.retrieve("anything")).toEqual([]);
    await memory.record(["something"]);
    expect([
      await memory.retrieve(""),
      await memory.retrieve(" ?! — …"),
      await memory.retrieve("🎉"),
    ]).toEqual([[], [], []]);
  });

  it("tells what it found: an id, the text, the time it was recorded and a score above 0", async () => {
    const { clock, memory } = fresh();
    const time = clock.now();
    expect(await memory.record(["The key is under the mat."])).toEqual({ added: 1, known: 0 });
    await clock.advance(HOUR);
    const found = await memory.retrieve("Where is the key?");
    expect(found).toEqual([
      { id: expect.any(String), text: "The key is under the mat.", time, score: expect.any(Number) },
    ]);
    expect(found[0]?.score).toBeGreaterThan(0);
  });

  it.each([
    ["dark mode", "User prefers dark mode"],
    ["DARK", "User prefers dark mode"],
    ["深色", "用户喜欢深色模式，养了一只猫"],
    ["我家的猫叫什么", "用户喜欢深色模式，养了一只猫"],
    ["模式", "用户喜欢深色模式，养了一只猫"],
    ["cafe", "We met in the Café Müller."],
    ["MÜLLER", "We met in the Café Müller."],
    ["muller", "We met in the Café Müller."],
    ["nano_agent", "The package is called nano-agent."],
    ["nanoAgent", "The package is called nano-agent."],
    ["agent", "The package is called nano-agent."],
    ["getUserNames", "src/core/user-list.ts has getUserNames()"],
    ["user names", "src/core/user-list.ts has getUserNames()"],
    ["user-list.ts", "src/core/user-list.ts has getUserNames()"],
    ["where is src/core/user-list.ts?", "src/core/user-list.ts has getUserNames()"],
    ["ｇｅｔＵｓｅｒＮａｍｅｓ", "src/core/user-list.ts has getUserNames()"],
    ["deployment", "Deployments happen on Fridays."],
    ["커피", "저는 커피를 좋아해요"],
    ["カレー", "昨日カレーを食べました"],
    ["STRASSE", "Die Straße ist gesperrt."],
  ])("finds by %s", async (query, text) => {
    const { memory } = fresh();
    await memory.record([
      "User prefers dark mode",
      "用户喜欢深色模式，养了一只猫",
      "We met in the Café Müller.",
      "The package is called nano-agent.",
      "src/core/user-list.ts has getUserNames()",
      "Deployments happen on Fridays.",
      "저는 커피를 좋아해요",
      "昨日カレーを食べました",
      "Die Straße ist gesperrt.",
    ]);
    expect((await texts(memory, query))[0]).toBe(text);
  });
}

function describeRanking(fresh: Fresh): void {
  it("puts first what fits best, and of what fits equally what is newest", async () => {
    const { clock, memory } = fresh();
    for (const text of ["tea is green", "tea and coffee", "coffee is black"]) {
      await memory.record([text, `unrelated ${text.length}`, `filler number ${text.length}`]);
      await clock.advance(HOUR);
    }
    expect(await texts(memory, "black coffee")).toEqual(["coffee is black", "tea and coffee"]);
    expect(await texts(memory, "tea")).toEqual(["tea and coffee", "tea is green"]);
    expect(await texts(memory, "tea", 1)).toEqual(["tea and coffee"]);
  });
}

function describeKeeping(fresh: Fresh): void {
  it("keeps a text once, whatever its case, blanks and last full stop, and takes it for new again", async () => {
    const { clock, memory } = fresh();
    await memory.record(["Ann likes tea.", "ann  likes tea", "Ann likes tea"]);
    await clock.advance(HOUR);
    expect(await memory.record(["ＡＮＮ likes tea!", "It is -3 degrees", "It is 3 degrees"])).toEqual({
      added: 2,
      known: 1,
    });
    expect(await memory.retrieve("tea")).toMatchObject([{ time: clock.now() }]);
    expect((await texts(memory, "degrees")).length).toBe(2);
  });

  it("takes the words of a query that look like operators for words", async () => {
    const { memory } = fresh();
    await memory.record(["To be or not to be", "NEAR the river", 'star * and "quote"', "column words: x"]);
    expect(await texts(memory, 'NEAR("river", 2)')).toEqual(["NEAR the river"]);
    expect(await texts(memory, '"quote')).toEqual(['star * and "quote"']);
    for (const query of [
      "OR",
      "NOT *",
      "AND (",
      "words:",
      "-words",
      "^star",
      "*",
      "'; DROP TABLE memories;--",
    ])
      await memory.retrieve(query);
    expect(await texts(memory, "to be or not")).toEqual(["To be or not to be"]);
  });

  it("makes one record of a dialogue, without tool calls and without what was remembered before", async () => {
    const { memory } = fresh();
    await memory.record([
      { role: "user", name: "long_term_memory", content: [{ type: "text", text: "old news" }] },
      userMessage("<long_term_memory>more old news</long_term_memory>"),
      userMessage("Where is the key?"),
      { role: "assistant", content: [{ type: "tool_use", id: "1", name: "look", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: "secret" }] },
      assistantMessage("Under the mat."),
    ]);
    expect(await texts(memory, "key")).toEqual(["Q: Where is the key?\nA: Under the mat."]);
    expect([await texts(memory, "news"), await texts(memory, "secret")]).toEqual([[], []]);
  });

  it("keeps nothing of empty texts, and makes text fit for every reader", async () => {
    const { memory } = fresh();
    expect(await memory.record(["", "  \n"])).toEqual({ added: 0, known: 0 });
    await memory.record(["broken \ud800 half \u0000 \u001b[31mred"]);
    expect(await texts(memory, "broken")).toEqual(["broken � half � �[31mred"]);
  });
}

function describeBounds(fresh: Fresh): void {
  it("stays within its bounds", async () => {
    const { clock, memory } = fresh(3);
    for (const text of ["first apple", "second apple", "third apple", "fourth apple", "fifth apple"]) {
      await memory.record([text]);
      await clock.advance(HOUR);
    }
    expect(await texts(memory, "apple", 10)).toEqual(["fifth apple", "fourth apple", "third apple"]);
  });

  it("stops before it begins when it is aborted already", async () => {
    const { memory } = fresh();
    await memory.record(["apple"]);
    const signal = AbortSignal.abort();
    await expect(memory.record(["pear"], { signal })).rejects.toSatisfy((e) =>
      isNanoAgentError(e, "aborted"),
    );
    await expect(memory.retrieve("apple", { signal })).rejects.toSatisfy((e) =>
      isNanoAgentError(e, "aborted"),
    );
    expect(await texts(memory, "pear")).toEqual([]);
  });

  it("refuses a limit that is none", async () => {
    const { memory } = fresh();
    for (const limit of [0, -1, Number.NaN])
      await expect(memory.retrieve("x", { limit })).rejects.toSatisfy((e) =>
        isNanoAgentError(e, "invalid_argument"),
      );
  });
}

function describeAnyText(fresh: Fresh): void {
  it("finds every text by all of its words and by any of them, in any script", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(sentence, { minLength: 1, maxLength: 8 }), async (sentences) => {
        const { memory } = fresh();
        const added = sentences.map((words) => words.join(" "));
        await memory.record(added);
        for (const words of sentences) {
          const text = words.join(" ");
          const found = [await texts(memory, text, 20)];
          for (const word of words) found.push(await texts(memory, word, 20));
          expect(found.filter((each) => !each.some((one) => same(one, text)))).toEqual([]);
        }
      }),
      { numRuns: 20 },
    );
  });

  it("takes any text to keep and any text to search by, and keeps each once however often it comes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { maxLength: 6 }), anyText, async (recorded, query) => {
        const { memory } = fresh();
        const first = await memory.record(recorded);
        const again = await memory.record(recorded);
        expect(again).toEqual({ added: 0, known: first.added });
        const found = await memory.retrieve(query, { limit: 3 });
        expect(found.length).toBeLessThanOrEqual(3);
        for (const { score } of found) expect(score).toBeGreaterThan(0);
      }),
      { numRuns: 30 },
    );
  });
}

async function texts(memory: LongTermMemory, query: string, limit = 5): Promise<readonly string[]> {
  return (await memory.retrieve(query, { limit })).map(({ text }) => text);
}

/** A text is found again under another spelling that counts as the same. */
function same(a: string, b: string): boolean {
  const fold = (text: string) => text.normalize("NFKC").toLowerCase();
  return fold(a) === fold(b);
}

const word = fc.oneof(
  fc.constantFrom(
    "apple",
    "Straße",
    "naïve",
    "getUserName",
    "src/coding/setup/main.ts",
    "v2",
    "snake_case",
    "E2E",
    "don't",
  ),
  fc.constantFrom(
    "记忆",
    "长期内存",
    "北京大学",
    "猫",
    "深色模式",
    "数据库",
    "東京",
    "ラーメン",
    "ありがとう",
  ),
  fc.constantFrom("привет", "ёлка", "γειά", "שלום", "مرحبا", "नमस्ते", "커피를", "สวัสดี", "İstanbul", "ǅungla"),
  fc
    .string({ unit: fc.constantFrom(..."abcdefgh"), minLength: 2, maxLength: 9 })
    .filter((text) => !STOP_WORDS.has(text)),
);
const sentence = fc.array(word, { minLength: 1, maxLength: 6 });
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: fc.constantFrom(..."ab\"'*():^-+~ \n\u0000ſßİ猫漢।\ud800\udc00"), maxLength: 30 }),
);
