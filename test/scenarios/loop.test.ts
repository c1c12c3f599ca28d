import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import { UNREADABLE } from "../../src/core/agent/loop.ts";
import { NanoAgentError } from "../../src/core/base/errors.ts";
import { type Message, NO_USAGE } from "../../src/core/message/message.ts";
import type { Model } from "../../src/core/model/model.ts";
import { calls, fails, finishes, says, thinks, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, eventTypes, lines, tool } from "./conversation.ts";

test("the model reasons, calls tools, sees their results and answers", async () => {
  const model = new ScriptedModel([
    [says("Let me look."), calls("read", { path: "a" })],
    [calls("grep", { pattern: "x" })],
    says("It is 42."),
  ]);
  const agent = new Agent({ model, tools: [tool("read"), tool("grep")], systemPrompt: "Be brief." });

  const result = await agent.run("What is it?");

  expect(lines(result.messages)).toEqual([
    "user: What is it?",
    "assistant: Let me look.",
    'calls read {"path":"a"}',
    'result call_1: read {"path":"a"}',
    'calls grep {"pattern":"x"}',
    'result call_2: grep {"pattern":"x"}',
    "assistant: It is 42.",
  ]);
  expect(result).toMatchObject({
    text: "It is 42.",
    stopReason: "completed",
    iterations: 3,
    usage: { inputTokens: 300, outputTokens: 60 },
    sessionId: agent.sessionId,
  });
  expect(model.requests.map(({ system, messages }) => [system, messages.length])).toEqual([
    ["Be brief.", 1],
    ["Be brief.", 3],
    ["Be brief.", 5],
  ]);
  model.assertFinished();
});

test("the events of a run are its journal entries with the deltas between them, and one done at the end", async () => {
  const model = new ScriptedModel([[thinks("hm"), says("Looking."), calls("read", {})], says("Done.")]);
  const agent = new Agent({ model, tools: [tool("read")] });

  const events = await all(agent.stream("go"));

  expect(eventTypes(events)).toEqual([
    "run_start",
    "user_message",
    "turn_start",
    "thinking_delta",
    "text_delta",
    "tool_call_start",
    "tool_call_delta",
    "assistant_message",
    "tool_intent",
    "tool_result",
    "turn_start",
    "text_delta",
    "assistant_message",
    "run_end",
    "done",
  ]);
});

test("a second run goes on with the same conversation", async () => {
  const model = new ScriptedModel([says("one"), says("two")]);
  const agent = new Agent({ model });
  await agent.run("first");
  const { messages, usage } = await agent.run("second");
  expect(lines(messages)).toEqual(["user: first", "assistant: one", "user: second", "assistant: two"]);
  expect(usage).toEqual({ inputTokens: 100, outputTokens: 20 });
  expect(agent.getState().totalTokens).toEqual({ input: 200, output: 40 });
});

test("run and stream are the same loop: same entries, same result", async () => {
  const script = () => new ScriptedModel([[calls("read", { path: "a" })], says("done")]);
  const make = () => new Agent({ model: script(), tools: [tool("read")], sessionId: "s" });
  const result = await make().run("go");
  const last = (await all(make().stream("go"))).at(-1);
  expect(last).toEqual({ type: "done", result });
});

test("a failed request ends the run as data, keeps what was there, and the conversation can go on", async () => {
  const model = new ScriptedModel([
    fails(new NanoAgentError("rate_limit", "Too many requests.")),
    says("now"),
  ]);
  const agent = new Agent({ model });
  const failed = await agent.run("go");
  expect([failed.stopReason, failed.error?.code, failed.text, lines(failed.messages)]).toEqual([
    "error",
    "rate_limit",
    "",
    ["user: go"],
  ]);
  const again = await agent.run();
  expect(lines(again.messages)).toEqual(["user: go", "assistant: now"]);
});

test("an empty answer is not stored, and the run is complete", async () => {
  const model = new ScriptedModel([says(""), says("yes")]);
  const agent = new Agent({ model });
  expect(await agent.run("go")).toMatchObject({ text: "", stopReason: "completed" });
  expect(lines((await agent.run("and?")).messages)).toEqual(["user: go", "user: and?", "assistant: yes"]);
});

test.each([
  ["length", "output_limit"],
  ["refusal", "refusal"],
  ["stop", "completed"],
  ["other", "completed"],
] as const)("an answer that ends with %s stops the run with %s", async (reason, stopReason) => {
  const model = new ScriptedModel([[says("text"), finishes(reason)]]);
  expect(await new Agent({ model }).run("go")).toMatchObject({ stopReason, text: "text" });
});

test.each([
  [
    "an answer that the provider could not go on with",
    [says("half"), finishes({ unified: "error", raw: "BROKE" })],
  ],
  ["an answer without a text under a word nobody knows", [finishes({ unified: "other", raw: "BROKE" })]],
] as const)("%s is an error", async (_name, answer) => {
  const { stopReason, error } = await new Agent({ model: new ScriptedModel([answer]) }).run("go");
  expect([stopReason, error?.code, error?.message]).toEqual([
    "error",
    "provider_error",
    'scripted ended the answer of scripted with "BROKE". Run again without an input to continue, or rephrase the request.',
  ]);
});

test("a refusal says what the provider said about it", async () => {
  const reason = { unified: "refusal", raw: "SAFETY", detail: "It is about weapons." } as const;
  const model = new ScriptedModel([finishes(reason)]);
  const { stopReason, detail } = await new Agent({ model }).run("go");
  expect([stopReason, detail]).toEqual(["refusal", "It is about weapons."]);
});

test("what a provider did by itself goes back to it when a paused answer goes on", async () => {
  const provider_data = { anthropic: { block: { type: "server_tool_use", id: "s" } } };
  const own = { type: "text", text: "", provider_data } as const;
  const requests: (readonly Message[])[] = [];
  const model: Model = {
    provider: "acme",
    id: "m",
    stream: async function* ({ messages }) {
      const unified = requests.push(messages) === 1 ? "pause" : "stop";
      yield { type: "block", index: 0, block: own };
      yield { type: "finish", finishReason: { unified, raw: unified }, usage: NO_USAGE };
    },
  };
  await new Agent({ model }).run("go");
  expect(requests[1]?.[1]).toEqual({ role: "assistant", content: [own] });
});

test("a steering message reaches the model at its next request, and makes it go on when it was about to end", async () => {
  const model = new ScriptedModel([calls("read", {}), says("almost"), says("changed")]);
  const agent = new Agent({
    model,
    tools: [tool("read", { execute: () => (agent.steer("use tabs"), "text") })],
  });
  const seen: string[] = [];
  const result = await agent.run("go", {
    onEvent: (event) => {
      if (event.type === "assistant_message" && seen.push("answer") === 2) agent.steer("and a test");
    },
  });
  expect(lines(result.messages)).toEqual([
    "user: go",
    "calls read {}",
    "result call_1: text",
    "user: use tabs",
    "assistant: almost",
    "user: and a test",
    "assistant: changed",
  ]);
});

test("history that could not be sent is repaired before the first request", async () => {
  const model = new ScriptedModel([says("fine")]);
  const agent = new Agent({
    model,
    messages: [
      { role: "user", content: [{ type: "text", text: "old" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "x", name: "read", input: {} }] },
    ],
  });
  expect(lines((await agent.run("new")).messages)).toEqual([
    "user: old",
    "calls read {}",
    "error x: interrupted before it ran",
    "user: new",
    "assistant: fine",
  ]);
});

test("a call id that was used before is replaced, so that every result has one call", async () => {
  const model = new ScriptedModel([
    calls("read", {}, "call_0"),
    [calls("read", {}, "call_0"), calls("read", {}, "")],
    says("ok"),
  ]);
  const result = await new Agent({ model, tools: [tool("read")] }).run("go");
  const ids = result.messages.flatMap((message) =>
    message.content.flatMap((block) => (block.type === "tool_use" ? [block.id] : [])),
  );
  const answered = result.messages.flatMap((message) =>
    message.content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : [])),
  );
  expect(new Set(ids).size).toBe(3);
  expect(answered).toEqual(ids);
});

test("sendMessage tells the five events in order and returns the text", async () => {
  const model = new ScriptedModel([
    [says("Looking."), calls("read", { path: "a" })],
    calls("nope", {}),
    says("Done."),
  ]);
  const agent = new Agent({ model, tools: [tool("read")] });
  const seen: unknown[] = [];
  const tokens: string[] = [];
  const text = await agent.sendMessage("go", {
    onEvent: (event) => seen.push(event),
    onToken: (token) => tokens.push(token),
  });
  expect(text).toBe("Done.");
  expect(tokens.join("")).toBe("Looking.Done.");
  expect(seen).toEqual([
    { type: "text", content: "Looking." },
    { type: "tool_use", toolName: "read", toolInput: { path: "a" } },
    { type: "tool_result", toolName: "read", toolResult: 'read {"path":"a"}', status: "ok" },
    { type: "tool_use", toolName: "nope", toolInput: {} },
    {
      type: "tool_result",
      toolName: "nope",
      toolResult: expect.stringContaining("Unknown tool: nope"),
      status: "error",
    },
    { type: "text", content: "Done." },
    { type: "done" },
  ]);
});

test("sendMessage throws what made the run fail", async () => {
  const agent = new Agent({ model: new ScriptedModel([fails(new NanoAgentError("network", "No route."))]) });
  await expect(agent.sendMessage("go")).rejects.toThrow("No route.");
});

test("reset starts a new conversation", async () => {
  const agent = new Agent({ model: new ScriptedModel([says("a"), says("b")]) });
  await agent.run("first");
  const before = agent.sessionId;
  agent.reset();
  expect(agent.getState()).toEqual({ messages: [], totalTokens: { input: 0, output: 0 }, totalCost: 0 });
  expect(lines((await agent.run("second")).messages)).toEqual(["user: second", "assistant: b"]);
  expect(agent.sessionId).not.toBe(before);
});

test("an observer that throws is told to the reader and stops nothing", async () => {
  const agent = new Agent({ model: new ScriptedModel([says("hi")]) });
  const events = await all(
    agent.stream("go", {
      onEvent: ({ type }) => {
        if (type === "run_end") throw new Error("oops");
      },
    }),
  );
  expect(events.filter(({ type }) => type === "warning")).toEqual([
    { type: "warning", message: "An observer threw: oops" },
  ]);
  expect(events.at(-1)).toMatchObject({ type: "done", result: { stopReason: "completed" } });
});

test("the price of the model becomes the cost of the run, and an unknown price is unknown, not zero", async () => {
  const priced = new ScriptedModel([says("hi")], { info: { price: { input: 10, output: 100 } } });
  expect((await new Agent({ model: priced }).run("go")).cost).toBeCloseTo((100 * 10 + 20 * 100) / 1e6, 12);
  expect((await new Agent({ model: new ScriptedModel([says("hi")]) }).run("go")).cost).toBeUndefined();
});

test("a stream that nobody reads leaves nothing on the signal it was given, and one that was read neither", async () => {
  const { signal } = new AbortController();
  const agent = new Agent({ model: new ScriptedModel([says("Blue.")]) });
  agent.stream("Colour?", { signal });
  expect(getEventListeners(signal, "abort")).toEqual([]);
  for await (const event of agent.stream("Colour?", { signal }))
    if (event.type === "turn_start") expect(getEventListeners(signal, "abort")).toHaveLength(1);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("an observer that throws at each piece keeps nothing from the others, and the others hear of it", async () => {
  const seen: string[] = [];
  const agent = new Agent({ model: new ScriptedModel([says("Hello there.")], { chunkSize: 6 }) });
  await agent.run("go", {
    onToken: () => {
      throw new Error("oops");
    },
    onEvent: (event) => {
      if (event.type === "text_delta") seen.push(event.text);
      if (event.type === "warning") seen.push(event.message);
    },
  });
  const warning = "An observer threw: oops";
  expect(seen).toEqual([warning, "Hello ", warning, "there."]);
});

test("an asynchronous observer that fails is told of too, and nobody waits for it", async () => {
  const release = Promise.withResolvers<void>();
  const model = new ScriptedModel([[says("Hello."), waits(release.promise), says("There.")]]);
  const seen: string[] = [];
  const { stopReason } = await new Agent({ model }).run("go", {
    onEvent: (event) => {
      if (event.type === "warning") seen.push(event.message);
    },
    onToken: (text): unknown => {
      if (text !== "Hello.") return undefined;
      release.resolve();
      return Promise.reject(new Error("oops"));
    },
  });
  expect([stopReason, seen]).toEqual(["completed", ["An observer threw: oops"]]);
});

test("one answer may hold so many calls; each of the others has a result that says so", async () => {
  const model = new ScriptedModel([[1, 2, 3, 4].map((n) => calls("read", { n })), says("done")]);
  const { messages } = await new Agent({ model, tools: [tool("read")], maxCallsPerAnswer: 2 }).run("go");
  const tooMany =
    "Error: Not run: one answer may hold 2 calls. Make it in the next one if it is still needed.";
  expect(lines(messages).slice(5, -1)).toEqual([
    'result call_1: read {"n":1}',
    'result call_2: read {"n":2}',
    `error call_3: ${tooMany}`,
    `error call_4: ${tooMany}`,
  ]);
});

test("a model whose output its own server cannot read is told so, and given up after three answers", async () => {
  const failure = (): NanoAgentError =>
    new NanoAgentError("invalid_response", "p could not read what its model wrote.", {
      details: { reason: "unreadable_output" },
    });
  const told = new ScriptedModel([fails(failure()), says("In words then.")]);
  const result = await new Agent({ model: told }).run("go");
  expect(lines(result.messages)).toEqual(["user: go", `user: ${UNREADABLE}`, "assistant: In words then."]);
  const never = new ScriptedModel(() => fails(failure()));
  expect(await new Agent({ model: never }).run("go")).toMatchObject({
    stopReason: "error",
    error: failure(),
  });
  expect(never.requests).toHaveLength(3);
});

test("an answer cut by a full window says so", async () => {
  const script = [[says("Half an ans"), finishes("length", { inputTokens: 900, outputTokens: 100 })]];
  const model = new ScriptedModel(script, { info: { contextWindow: 1_000 } });
  expect(await new Agent({ model }).run("go")).toMatchObject({
    stopReason: "output_limit",
    detail: "The context window of 1000 tokens is full: the conversation takes 1000.",
  });
});

test("an answer that repeats one sentence is left, and kept up to there", async () => {
  const model = new ScriptedModel([says(`Well. ${"I will look at it. ".repeat(5_000)}`)]);
  const result = await new Agent({ model }).run("go");
  expect(result).toMatchObject({
    stopReason: "loop_detected",
    detail: expect.stringContaining("times in a row"),
  });
  expect(lines(result.messages).at(-1)).toMatch(/^assistant: Well\. (?:I will look at it\. )/);
  expect(result.text.length).toBeLessThan(3_000);
});
