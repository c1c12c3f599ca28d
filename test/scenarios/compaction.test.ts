import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import { userMessage } from "../../src/core/message/message.ts";
import { transcriptViolations } from "../../src/core/message/transcript.ts";
import type { Compaction, CompactionTask, Compactor } from "../../src/memory/context/compactor.ts";
import { calls, fails, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, eventTypes, lines, tool } from "./conversation.ts";

const OVERFLOW = new NanoAgentError("context_overflow", "too long");
const tools = [tool("read")];

/**
 * Asks the model for a summary and keeps the newest `kept` messages, whenever the conversation has more than
 * `max`.
 */
function summaryOver(max: number, kept = 2, changes: Partial<Compactor> = {}): Compactor {
  return {
    isNeeded: ({ messages }) => messages.length > max,
    compact: async (task: CompactionTask): Promise<Compaction | undefined> => {
      const answer = await task.ask({
        ...task.request,
        messages: [...task.messages, userMessage("Summarise.")],
      });
      if (answer.type !== "answer") return undefined;
      const [block] = answer.message.content;
      const text = block?.type === "text" ? block.text : "";
      return {
        method: "summary",
        messages: [userMessage(`summary: ${text}`)],
        kept,
        tokensBefore: 900,
        tokensAfter: 100,
      };
    },
    preview: () => Promise.reject(new Error("unused")),
    ...changes,
  };
}

test("before a request that would not fit the conversation is replaced by a summary and its newest messages", async () => {
  const model = new ScriptedModel([calls("read"), calls("read"), says("what was done"), says("end")]);
  const agent = new Agent({ model, tools, compaction: summaryOver(4) });
  const events = await all(agent.stream("go"));
  const sent = ["user: summary: what was done", "calls read {}", "result call_2: read {}"];
  expect(lines(model.requests.at(-1)?.messages ?? [])).toEqual(sent);
  expect(eventTypes(events).slice(-8)).toEqual([
    "turn_start",
    "compaction_start",
    "model_usage",
    "compaction",
    "text_delta",
    "assistant_message",
    "run_end",
    "done",
  ]);
  expect(lines(agent.getState().messages)).toEqual([...sent, "assistant: end"]);
  model.assertFinished();
});

test("the request for a summary costs and counts, but is neither a turn nor a message", async () => {
  const info = { price: { input: 1000, output: 1000 } };
  const model = new ScriptedModel([calls("read"), calls("read"), says("S"), says("end")], { info });
  const result = await new Agent({ model, tools, compaction: summaryOver(4) }).run("go");
  expect(result).toMatchObject({ iterations: 3, usage: { inputTokens: 400, outputTokens: 80 }, text: "end" });
  expect(result.cost).toBeCloseTo(0.48);
});

test("a request the provider refuses as too long is made once more after a compaction", async () => {
  const model = new ScriptedModel([calls("read"), fails(OVERFLOW), says("S"), says("end")]);
  const agent = new Agent({ model, tools, compaction: summaryOver(99) });
  const events = await all(agent.stream("go"));
  expect(events.find((event) => event.type === "compaction")).toMatchObject({ reason: "overflow" });
  expect(agent.getState().messages).toHaveLength(4);
  model.assertFinished();
});

test("a second refusal of one request is the error of the run", async () => {
  const model = new ScriptedModel([calls("read"), fails(OVERFLOW), says("S"), fails(OVERFLOW)]);
  const result = await new Agent({ model, tools, compaction: summaryOver(99) }).run("go");
  expect([result.stopReason, result.error?.code]).toEqual(["error", "context_overflow"]);
  model.assertFinished();
});

test("without a compactor a request that is too long ends the run", async () => {
  const model = new ScriptedModel([fails(OVERFLOW)]);
  const result = await new Agent({ model, compaction: false }).run("go");
  expect([result.stopReason, result.error?.code]).toEqual(["error", "context_overflow"]);
});

test("a budget that the summary uses up ends the run before the next request", async () => {
  const model = new ScriptedModel([calls("read"), calls("read"), says("S")]);
  const agent = new Agent({ model, tools, compaction: summaryOver(4), budget: { tokens: 470 } });
  expect(await agent.run("go")).toMatchObject({ stopReason: "budget", limit: "tokens", iterations: 2 });
  model.assertFinished();
});

test("an abort while the summary is written ends the run and leaves the conversation as it was", async () => {
  const stop = new AbortController();
  const model = new ScriptedModel([
    calls("read"),
    calls("read"),
    () => {
      stop.abort();
      return [waits(new Promise(() => undefined))];
    },
  ]);
  const agent = new Agent({ model, tools, compaction: summaryOver(4) });
  expect(await agent.run("go", { signal: stop.signal })).toMatchObject({ stopReason: "aborted" });
  expect(agent.getState().messages).toHaveLength(5);
});

test.each([
  ["throws", { compact: () => Promise.reject(new Error("no idea")) }, "no idea"],
  [
    "cuts a result off its call",
    {
      compact: async () =>
        ({ method: "truncation", messages: [], kept: 1, tokensBefore: 2, tokensAfter: 1 }) as const,
    },
    "cannot be sent",
  ],
])("a compactor that %s leaves the conversation as it is, with a warning", async (_what, changes, words) => {
  const model = new ScriptedModel([calls("read"), calls("read"), says("end")]);
  const agent = new Agent({ model, tools, compaction: summaryOver(4, 2, changes) });
  const events = await all(agent.stream("go"));
  expect(events.filter((event) => event.type === "warning").map(({ message }) => message)).toEqual([
    expect.stringContaining(words),
  ]);
  expect(agent.getState().messages).toHaveLength(6);
});

test("a compactor that cannot tell the size is asked again at the next request", async () => {
  const model = new ScriptedModel([says("end")]);
  const isNeeded = (): boolean => {
    throw new Error("no figures");
  };
  const events = await all(new Agent({ model, compaction: summaryOver(4, 2, { isNeeded }) }).stream("go"));
  expect(events.find((event) => event.type === "warning")).toMatchObject({
    message: expect.stringContaining("no figures"),
  });
});

test("an undo brings the conversation back, with what came after, and stops compactions at the threshold", async () => {
  const model = new ScriptedModel([
    calls("read"),
    calls("read"),
    says("S"),
    says("end"),
    says("more"),
    fails(OVERFLOW),
    says("S2"),
    says("last"),
  ]);
  const journal = new MemoryJournal();
  const agent = new Agent({ model, tools, journal, compaction: summaryOver(4) });
  await agent.run("go");
  await agent.undoCompaction();
  const whole = [
    "user: go",
    "calls read {}",
    "result call_1: read {}",
    "calls read {}",
    "result call_2: read {}",
    "assistant: end",
  ];
  expect(lines(agent.getState().messages)).toEqual(whole);
  await expect(agent.undoCompaction()).rejects.toThrow("no compaction to undo");
  await agent.run("on");
  expect(lines(agent.getState().messages)).toEqual([...whole, "user: on", "assistant: more"]);
  await agent.run("and on");
  expect(lines(agent.getState().messages)).toEqual([
    "user: summary: S2",
    "assistant: more",
    "user: and on",
    "assistant: last",
  ]);
  const again = new Agent({ model: new ScriptedModel([]), journal });
  expect(again.getState()).toEqual(agent.getState());
});

test("compact() makes room on request, also while calls wait for their answer", async () => {
  const model = new ScriptedModel([calls("read"), calls("ask"), says("S")]);
  const seen: (string | undefined)[] = [];
  const compaction = summaryOver(99, 1);
  const agent = new Agent({
    model,
    tools: [...tools, tool("ask", { execute: undefined } as never)],
    compaction: {
      ...compaction,
      compact: (task) => (seen.push(task.reason, task.instructions), compaction.compact(task)),
    },
  });
  await agent.run("go");
  const entry = await agent.compact({ instructions: "the names" });
  expect(entry).toMatchObject({ type: "compaction", reason: "manual", kept: 1 });
  expect(seen).toEqual(["manual", "the names"]);
  expect(lines(agent.getState().messages)).toEqual(["user: summary: S", "calls ask {}"]);
});

test("an agent without compaction says what to pass", async () => {
  const agent = new Agent({ model: new ScriptedModel([]) });
  await expect(agent.compact()).rejects.toThrow("This agent has no compaction");
  await expect(agent.previewCompaction()).rejects.toThrow("This agent has no compaction");
  expect(() => new Agent({ model: new ScriptedModel([]), compaction: {} as never })).toThrow(
    "must be a Compactor",
  );
});

test("call ids stay unique over a compaction and its undo", async () => {
  const model = new ScriptedModel([
    calls("read", {}, "x"),
    calls("read", {}, "x"),
    says("S"),
    calls("read", {}, "x"),
    says("end"),
  ]);
  const agent = new Agent({ model, tools, compaction: summaryOver(4, 0) });
  await agent.run("go");
  await agent.undoCompaction();
  expect(transcriptViolations(agent.getState().messages)).toEqual([]);
});
