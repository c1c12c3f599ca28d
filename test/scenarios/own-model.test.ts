import { expect, onTestFinished, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { JournalEntry, NewEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { Model } from "../../src/core/model/model.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines, tool } from "./conversation.ts";

test("a model of one's own may leave out its usage, and is told what is no part of an answer", async () => {
  const endOf = async (...parts: readonly unknown[]) => {
    const model = {
      provider: "own",
      id: "own",
      async *stream() {
        yield { type: "text_delta", index: 0, text: "Hello." };
        yield* parts;
      },
    } as unknown as Model;
    const { text, error } = await new Agent({ model }).run("Hi");
    return error === undefined ? text : `${error.code}: ${error.message}`;
  };
  expect([
    await endOf({ type: "finish", finishReason: { unified: "stop", raw: "stop" } }),
    await endOf({ type: "finish" }),
    await endOf({ type: "text", text: "Hi" }),
  ]).toEqual([
    "Hello.",
    'invalid_response: The model\'s stream has a finish part without a finishReason such as { unified: "stop", raw: "stop" }.',
    'invalid_response: The model\'s stream has a part of the unknown type "text".',
  ]);
});

test("what goes wrong with the model of a subagent is told of that one", async () => {
  const broken: Model = {
    provider: "small",
    id: "helper",
    async *stream() {
      yield { type: "text_delta", index: 0, text: "Half an ans" };
      yield { type: "finish", finishReason: { unified: "error", raw: "overheated" } };
    },
  } as unknown as Model;
  const told: string[] = [];
  const delegate = tool("delegate", {
    execute: async (_input, { runAgent }) => {
      const { error, stopReason } = await runAgent({ agent: "helper", prompt: "Help.", model: broken });
      told.push(error?.message ?? stopReason);
      return "It failed.";
    },
  });
  const model = new ScriptedModel([calls("delegate", {}), says("Done.")]);
  await new Agent({ model, tools: [delegate] }).run("go");
  expect(told).toEqual([expect.stringContaining('small ended the answer of helper with "overheated"')]);
});

test("reasoning that repeats itself ends the run and costs the answer nothing of its text", async () => {
  const sentence = "I should look at it once more, and then again. ";
  const model = {
    provider: "own",
    id: "own",
    async *stream() {
      yield { type: "text_delta", index: 0, text: "The answer is 42." };
      for (let count = 0; count < 1_000; count++) yield { type: "thinking_delta", index: 1, text: sentence };
    },
  } as unknown as Model;
  const { messages, stopReason } = await new Agent({ model }).run("Hi");
  expect([stopReason, lines(messages)]).toEqual([
    "loop_detected",
    ["user: Hi", "assistant: The answer is 42."],
  ]);
});

test("a call inside of another one that nobody awaits may fail for the journal", async () => {
  class Failing extends MemoryJournal {
    override append(entry: NewEntry): JournalEntry {
      if ("parentCallId" in entry) throw new Error("The disk is full.");
      return super.append(entry);
    }
  }
  const outer = tool("outer", {
    execute: (_input, { callTool }) => {
      void callTool("inner", {});
      return "ok";
    },
  });
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const model = new ScriptedModel([calls("outer", {}), says("Done.")]);
  const { stopReason } = await new Agent({
    model,
    tools: [outer, tool("inner")],
    journal: new Failing(),
  }).run("go");
  await new Promise((resolve) => setImmediate(resolve));
  expect([stopReason, unhandled]).toEqual(["completed", []]);
});
