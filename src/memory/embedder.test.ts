import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import type { LongTermMemory } from "./long-term-memory.ts";
import { InMemoryLongTermMemory, SqliteLongTermMemory } from "./sqlite-long-term-memory.ts";
import type { Embedder, LongTermStoreOptions } from "./store-options.ts";

/** Knows that cats are animals, and that cars and trains move. */
const meanings: Embedder = {
  model: "meanings",
  embed: async (texts) =>
    texts.map((text) => [/cat|animal/.test(text) ? 1 : 0, /car |train|travel/.test(text) ? 2 : 0, 0.1]),
};

function inSqlite(options: LongTermStoreOptions): SqliteLongTermMemory {
  const memory = new SqliteLongTermMemory({ ...options, path: join(tempFolder(), "memory.db") });
  onTestFinished(() => memory.close());
  return memory;
}

const STORES: readonly (readonly [string, (options: LongTermStoreOptions) => LongTermMemory])[] = [
  ["InMemoryLongTermMemory", (options) => new InMemoryLongTermMemory(options)],
  ["SqliteLongTermMemory", inSqlite],
];

const FACTS = ["The cat sleeps.", "The train leaves at nine.", "Tea is green."];

describe.each(STORES)("%s with an embedder", (_name, open) => {
  const texts = async (memory: LongTermMemory, query: string) =>
    (await memory.retrieve(query)).map(({ text }) => text);

  it("finds by meaning what shares no word, and by words what has no meaning", async () => {
    const memory = open({ embedder: meanings });
    await memory.record(FACTS);
    expect(await texts(memory, "animal")).toEqual(["The cat sleeps."]);
    expect((await texts(memory, "travel by train"))[0]).toBe("The train leaves at nine.");
    expect((await texts(memory, "green"))[0]).toBe("Tea is green.");
  });

  it.each<readonly [string, Embedder["embed"]]>([
    [
      "throws at once",
      () => {
        throw new Error("no key");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no key"))],
    ["never answers", () => new Promise<never>(() => undefined)],
    ["gives too few vectors", async () => []],
    ["gives empty vectors", async (all) => all.map(() => [])],
    ["gives no numbers", async (all) => all.map(() => [Number.NaN])],
  ])("does with words, and says so, when the embedder %s", async (_what, embed) => {
    const notices: string[] = [];
    const memory = open({
      embedder: { model: "broken", embed },
      embedTimeoutMs: 5,
      onNotice: (message) => notices.push(message),
    });
    await memory.record(FACTS);
    expect(await texts(memory, "cat")).toEqual(["The cat sleeps."]);
    expect(notices).toEqual(
      Array.from({ length: 2 }, () =>
        expect.stringMatching(/^The embedder broken failed, words have to do: ./),
      ),
    );
  });

  it("rejects when it is aborted while the embedder is running", async () => {
    const abort = new AbortController();
    const memory = open({
      embedder: {
        model: "slow",
        embed: () => {
          abort.abort();
          return new Promise<never>(() => undefined);
        },
      },
    });
    await expect(memory.record(FACTS, { signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
  });
});

it("compares vectors of one model alone", async () => {
  const path = join(tempFolder(), "memory.db");
  const first = new SqliteLongTermMemory({ path, embedder: meanings });
  onTestFinished(() => first.close());
  await first.record(FACTS);
  const other = new SqliteLongTermMemory({ path, embedder: { ...meanings, model: "other" } });
  onTestFinished(() => other.close());
  expect([await other.retrieve("animal"), (await first.retrieve("animal")).length]).toEqual([[], 1]);
});
