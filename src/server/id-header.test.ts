import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { JournalEntry } from "../core/agent/entries.ts";
import { MemoryJournal } from "../core/agent/journal.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import { createHandler, idOfHeader } from "./create-handler.ts";
import { createReader } from "./create-reader.ts";

const TOKEN = "a-token-of-more-than-20-characters";

test("a client goes on behind an entry whatever letters its id has", async () => {
  const ids = ["запись-1", "条目二", "naïve", "Ã©"];
  const entries = ids.map(
    (id, at): JournalEntry => ({
      type: "note",
      id,
      parent: ids[at - 1] ?? null,
      time: at,
      kind: "k",
      data: at,
    }),
  );
  const handler = createHandler({
    token: TOKEN,
    agent: ({ options }) => new Agent({ ...options, model: new ScriptedModel([]) }),
    store: {
      list: () => ["s"],
      open: (id) => new MemoryJournal({ sessionId: id, entries }),
      create: (id) => new MemoryJournal({ sessionId: id }),
    },
  });
  const reader = createReader({
    baseUrl: "http://127.0.0.1",
    token: TOKEN,
    fetch: (input, init) => handler(new Request(input, init)),
  });
  const seen: (readonly string[])[] = [];
  for (const after of ids) {
    const behind: string[] = [];
    for await (const item of reader.follow("s", { after })) {
      if (item.type === "entry") behind.push(item.entry.id);
      else behind.push(item.passing.type);
      if (behind.at(-1) === "ready") break;
    }
    seen.push(behind.filter((each) => each !== "ready" && each !== "state" && each !== "queue"));
  }
  expect(seen).toEqual(ids.map((_, at) => ids.slice(at + 1)));
});

test("a value that is no UTF-8 is taken as it stands", () => {
  expect([idOfHeader("e1"), idOfHeader("na\u00efve"), idOfHeader(null)]).toEqual([
    "e1",
    "na\u00efve",
    undefined,
  ]);
});
