import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import type { Model, ModelCallOptions, ModelRequest, StreamPart } from "../../src/core/model/model.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, lines, tool } from "./conversation.ts";

/** What entries say, without what the journal adds. */
function facts(
  entries: Iterable<JournalEntry>,
  ...types: readonly JournalEntry["type"][]
): readonly unknown[] {
  return [...entries]
    .filter(({ type }) => types.includes(type))
    .map(({ id: _id, parent: _parent, time: _time, ...fact }) => fact);
}

/** A model that answers with the given parts, request by request, and then as long as it is not aborted. */
function parts(
  ...answers: readonly (readonly StreamPart[])[]
): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    provider: "test",
    id: "parts",
    requests,
    async *stream(request: ModelRequest, { signal }: ModelCallOptions = {}) {
      const answer = answers[requests.length] ?? [];
      requests.push(request);
      yield* answer;
      if (answer.at(-1)?.type === "finish") return;
      await new Promise((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
      );
    },
  };
}

const FINISH: StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: { inputTokens: 1, outputTokens: 1 },
};

test("a model and an effort that are chosen between runs hold for the next one and are an entry", async () => {
  const journal = new MemoryJournal();
  const first = new ScriptedModel([says("one")], { id: "first" });
  const second = new ScriptedModel([says("two"), says("three")], { id: "second" });
  const agent = new Agent({ model: first, effort: "low", journal });

  await agent.run("a");
  await agent.setModel(second, { effort: "high" });
  await agent.run("b");
  await agent.setModel(agent.model);
  await agent.run("c");

  expect(second.requests.map(({ effort }) => effort)).toEqual(["high", undefined]);
  expect([agent.model, agent.effort]).toEqual([second, undefined]);
  expect(facts(journal.entries(), "run_start", "model_change")).toMatchObject([
    { type: "run_start", model: "scripted/first", effort: "low" },
    { type: "model_change", model: "scripted/second", effort: "high" },
    { type: "run_start", model: "scripted/second", effort: "high" },
    { type: "model_change", model: "scripted/second" },
    { type: "run_start", model: "scripted/second" },
  ]);
});

test("a model that is chosen while a run is at work answers from its next request on, in nested runs too", async () => {
  for (const memory of ["full", "final-only"] as const) {
    const journal = new MemoryJournal();
    const first = new ScriptedModel([calls("switch", {})], { id: "first" });
    const second = new ScriptedModel([says("done")], { id: "second" });
    const agent: Agent = new Agent({
      model: first,
      memory,
      journal,
      tools: [
        tool("switch", {
          execute: async () => {
            await agent.setModel(second, { effort: "high" });
            return "switched";
          },
        }),
      ],
    });
    const events: string[] = [];

    const { text } = await agent.run("go", { onEvent: ({ type }) => events.push(type) });

    expect(text).toBe("done");
    expect(second.requests[0]?.effort).toBe("high");
    expect(events).toContain("model_change");
    expect(facts(journal.entries(), "assistant_message")).toMatchObject([
      { model: "scripted/first" },
      { model: "scripted/second" },
    ]);
  }
});

test("what was chosen before the first run is what the first run says, and no entry of its own", async () => {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([says("one")], { id: "second" });
  const agent = new Agent({ model: new ScriptedModel([], { id: "first" }), journal });

  await agent.setModel(model, { effort: "minimal" });
  expect([...journal.entries()]).toEqual([]);
  await agent.run("a");

  expect(facts(journal.entries(), "run_start", "model_change")).toMatchObject([
    { type: "run_start", model: "scripted/second", effort: "minimal" },
  ]);
});

test("a model that is none, an effort nobody knows and a price nobody knows under a budget change nothing", async () => {
  const model = new ScriptedModel([], { info: { price: { input: 1, output: 1 } } });
  const agent = new Agent({ model, budget: { usd: 1 } });

  await expect(agent.setModel("nowhere/gpt-5.5")).rejects.toThrow('There is no provider "nowhere"');
  await expect(agent.setModel(model, { effort: "huge" as never })).rejects.toThrow("effort");
  await expect(agent.setModel(new ScriptedModel([]))).rejects.toThrow("A limit in money needs a price");

  expect([agent.model, agent.effort]).toEqual([model, undefined]);
});

test("a subagent keeps the model of its task when that of the conversation changes", async () => {
  const own = new ScriptedModel([calls("switch", {}), says("sub done")], { id: "own" });
  const first = new ScriptedModel([calls("delegate", {})], { id: "first" });
  const second = new ScriptedModel([says("done")], { id: "second" });
  const agent: Agent = new Agent({
    model: first,
    tools: [
      tool("switch", {
        execute: async () => {
          await agent.setModel(second);
          return "switched";
        },
      }),
      tool("delegate", {
        execute: async (_input, { runAgent }) =>
          (await runAgent({ agent: "sub", prompt: "p", model: own })).text,
      }),
    ],
  });

  expect((await agent.run("go")).text).toBe("done");
  own.assertFinished();
});

test("a steering message has an id, can be taken back as long as it waits, and its entry bears the id", async () => {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([says("fine")]);
  const agent = new Agent({ model, journal });

  const kept = agent.steer("use tabs");
  const dropped = agent.steer("use spaces");
  expect(agent.pendingSteering).toEqual([
    { id: kept, content: [{ type: "text", text: "use tabs" }] },
    { id: dropped, content: [{ type: "text", text: "use spaces" }] },
  ]);
  expect([agent.unsteer(dropped), agent.unsteer(dropped), agent.unsteer("nothing")]).toEqual([
    true,
    false,
    false,
  ]);
  const { messages } = await agent.run("go");

  expect(lines(messages)).toEqual(["user: go", "user: use tabs", "assistant: fine"]);
  expect(agent.pendingSteering).toEqual([]);
  expect(agent.unsteer(kept)).toBe(false);
  expect(facts(journal.entries(), "user_message")).toMatchObject([
    { source: "input" },
    { source: "steering", steeringId: kept },
  ]);
});

test("an answer that was cut is kept, and the next request says that it was", async () => {
  const journal = new MemoryJournal();
  const model = parts(
    [{ type: "text_delta", index: 0, text: "Once upon" }],
    [{ type: "text_delta", index: 0, text: "sorry" }, FINISH],
    [{ type: "text_delta", index: 0, text: "bye" }, FINISH],
  );
  const agent = new Agent({ model, journal });

  const cut = await agent.run("tell", { onToken: () => agent.stop() });
  expect([cut.stopReason, cut.text]).toEqual(["aborted", "Once upon"]);
  expect(lines(cut.messages)).toEqual(["user: tell", "assistant: Once upon"]);

  const resumed = new Agent({ model, journal });
  await resumed.run("shorter");
  await resumed.run("thanks");

  const remark = "user: The answer above was interrupted before it was complete.";
  expect(lines(model.requests[2]?.messages ?? [])).toEqual([
    "user: tell",
    "assistant: Once upon",
    remark,
    "user: shorter",
    "assistant: sorry",
    "user: thanks",
  ]);
  expect(facts(journal.entries(), "assistant_message")).toMatchObject([
    { interrupted: true },
    { message: { content: [{ text: "sorry" }] } },
    { message: { content: [{ text: "bye" }] } },
  ]);
});

test("a cut answer is marked also where the conversation keeps answers only, and before what others say", async () => {
  const model = parts(
    [{ type: "text_delta", index: 0, text: "Once upon" }],
    [{ type: "text_delta", index: 0, text: "sorry" }, FINISH],
    [{ type: "text_delta", index: 0, text: "bye" }, FINISH],
  );
  const agent = new Agent({ model, memory: "final-only" });

  await agent.run("tell", { onToken: () => agent.stop() });
  await agent.observe("Somebody laughs.");
  await agent.run("shorter");
  await agent.run("thanks");

  expect(lines(model.requests[2]?.messages ?? [])).toEqual([
    "user: tell",
    "assistant: Once upon",
    "user: The answer above was interrupted before it was complete.",
    "user: Somebody laughs.",
    "user: shorter",
    "assistant: sorry",
    "user: thanks",
  ]);
});

test("a run that is stopped before the model said anything leaves nothing to mark", async () => {
  const model = parts([{ type: "text_delta", index: 0, text: "hi" }, FINISH]);
  const agent = new Agent({ model });

  const running = agent.run("tell", { onEvent: ({ type }) => type === "turn_start" && agent.stop() });
  expect((await running).stopReason).toBe("aborted");
  await agent.run("again");

  expect(lines(model.requests.at(-1)?.messages ?? [])).toEqual(["user: tell", "user: again"]);
});

test("a retry is an entry with its reason and its wait, and the answer says when its first part came", async () => {
  const journal = new MemoryJournal();
  const error = new NanoAgentError("rate_limit", "slow down", { retryable: true, details: { status: 429 } });
  const model = parts([
    { type: "text_delta", index: 0, text: "void" },
    { type: "retry", attempt: 2, delayMs: 1_500, error },
    { type: "text_delta", index: 0, text: "fine" },
    FINISH,
  ]);
  const agent = new Agent({ model, journal });

  const events = await all(agent.stream("go"));

  const retry = {
    type: "retry",
    attempt: 2,
    delayMs: 1_500,
    error: { code: "rate_limit", message: "slow down", retryable: true, details: { status: 429 } },
  };
  expect(facts(journal.entries(), "retry")).toEqual([retry]);
  expect(JSON.parse(JSON.stringify(facts(journal.entries(), "retry")))).toEqual([retry]);
  expect(events.filter(({ type }) => type === "retry")).toMatchObject([retry]);
  const [answer] = [...journal.entries()].filter(({ type }) => type === "assistant_message");
  expect(answer).toMatchObject({ firstTokenMs: expect.any(Number), durationMs: expect.any(Number) });
});

test("a host's mode and notes are entries that the loop passes over", async () => {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([calls("ask", {}), says("done")]);
  const agent: Agent = new Agent({
    model,
    journal,
    tools: [
      tool("ask", {
        execute: async () => {
          await agent.note("question", { call: "call_1", choices: ["once", "no"] });
          return "asked";
        },
      }),
    ],
  });
  const events: string[] = [];

  await agent.setMode("plan");
  const { messages } = await agent.run("go", { onEvent: ({ type }) => events.push(type) });
  await agent.setMode("default");

  expect(lines(messages)).toEqual(["user: go", "calls ask {}", "result call_1: asked", "assistant: done"]);
  expect(events).toContain("note");
  expect(facts(journal.entries(), "mode_change", "note")).toEqual([
    { type: "mode_change", mode: "plan" },
    { type: "note", kind: "question", data: { call: "call_1", choices: ["once", "no"] } },
    { type: "mode_change", mode: "default" },
  ]);
  expect(agent.mode).toBe("default");
  expect(new Agent({ model, journal }).mode).toBe("default");
});
