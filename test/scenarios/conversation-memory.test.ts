import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { NewEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { assistantMessage, userMessage } from "../../src/core/message/message.ts";
import { transcriptViolations } from "../../src/core/message/transcript.ts";
import { firstAndLast } from "../../src/memory/context/first-and-last.ts";
import { InMemoryMemory } from "../../src/memory/in-memory-memory.ts";
import { SessionStore } from "../../src/session/session-store.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { tempFolder } from "../temp-folder.ts";
import { lines, tool } from "./conversation.ts";

test("the next request holds what is left of the conversation, and a resumed session the same", async () => {
  const folder = tempFolder();
  const store = new SessionStore(join(folder, "sessions"));
  const journal = await store.start(folder);
  const model = new ScriptedModel([calls("look"), says("Found."), says("Yes.")]);
  const agent = new Agent({ model, tools: [tool("look")], journal });
  await agent.run("Where?");
  const [, call] = agent.conversation.items();
  expect(await agent.conversation.delete(call?.message ?? [])).toBe(2);
  await agent.conversation.add("The date is 2026-01-01.", { marks: ["hint"] });
  await agent.run("Sure?");
  expect(lines(model.requests.at(-1)?.messages ?? [])).toEqual([
    "user: Where?",
    "assistant: Found.",
    "user: The date is 2026-01-01.",
    "user: Sure?",
  ]);
  const items = agent.conversation.items();
  await journal.close();
  const again = await store.resume(store.newest(folder));
  const resumed = new Agent({ model, journal: again });
  expect(resumed.conversation.items()).toEqual(items);
  await again.close();
});

test("a conversation is edited between runs only", async () => {
  const agent: Agent = new Agent({
    model: new ScriptedModel([calls("look"), says("ok")]),
    tools: [tool("look", { execute: async () => agent.conversation.clear() })],
  });
  expect(lines((await agent.run("go")).messages)[2]).toMatch(
    /^error call_1: Error: Editing the conversation while a run is in progress/,
  );
});

test("what is cleared stays cleared, the messages an agent was made with included", async () => {
  const model = new ScriptedModel([says("a"), says("b")]);
  const agent = new Agent({ model, messages: [userMessage("old"), assistantMessage("times")] });
  await agent.conversation.add("one more");
  expect(lines(agent.getState().messages)).toEqual(["user: old", "assistant: times", "user: one more"]);
  await agent.conversation.clear();
  expect(lines((await agent.run("new")).messages)).toEqual(["user: new", "assistant: a"]);
});

test("what was observed before the first run comes behind the messages an agent was made with", async () => {
  const model = new ScriptedModel([says("a")]);
  const agent = new Agent({ model, messages: [userMessage("old"), assistantMessage("times")] });
  await agent.observe("it rains");
  expect(lines((await agent.run("go")).messages)).toEqual([
    "user: old",
    "assistant: times",
    "user: it rains",
    "user: go",
    "assistant: a",
  ]);
});

test("an agent goes on from a memory that stood alone", async () => {
  const journal = new MemoryJournal();
  const memory = new InMemoryMemory({ journal });
  await memory.add([userMessage("Hello"), assistantMessage("Hi"), userMessage("hint")]);
  await memory.delete(memory.getMemory().at(-1) ?? []);
  const agent = new Agent({ model: new ScriptedModel([says("Still here.")]), journal });
  const { messages } = await agent.run("Anybody?");
  expect([lines(messages), transcriptViolations(messages)]).toEqual([
    ["user: Hello", "assistant: Hi", "user: Anybody?", "assistant: Still here."],
    [],
  ]);
});

test("with final-only any agent keeps questions and answers, and the journal everything", async () => {
  const model = new ScriptedModel([calls("look"), says("It is 42."), says("Yes.")]);
  const agent = new Agent({ model, tools: [tool("look")], memory: "final-only" });
  await agent.run("What is it?");
  const result = await agent.run("Sure?");
  expect(lines(result.messages)).toEqual([
    "user: What is it?",
    "assistant: It is 42.",
    "user: Sure?",
    "assistant: Yes.",
  ]);
  expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 3]);
});

test("ids and edits of a compacted conversation are the same when the journal is read again, also from its text", async () => {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([calls("look"), says("a"), says("b"), says("c")]);
  const agent = new Agent({
    model,
    journal,
    tools: [tool("look")],
    compaction: firstAndLast(3),
  });
  for (const text of ["one", "two", "three"]) await agent.run(text);
  await agent.conversation.mark(agent.conversation.getMemory().slice(-1), "newest");
  await agent.conversation.delete(agent.conversation.getMemory()[0] ?? []);
  const read = new MemoryJournal();
  for (const { id, parent, time, ...entry } of structuredClone([...journal.entries()]))
    read.append(Object.assign(entry, { id, parent, time }) as NewEntry);
  const items = agent.conversation.items();
  expect(new InMemoryMemory({ journal: read }).items()).toEqual(items);
  expect([new Set(items.map(({ id }) => id)).size, items.at(-1)?.marks]).toEqual([items.length, ["newest"]]);
  expect(transcriptViolations(agent.conversation.getMemory())).toEqual([]);
  await expect(agent.undoCompaction()).rejects.toThrow(/no compaction to undo/);
});
