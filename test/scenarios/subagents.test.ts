import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentEvent } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { GateRequest } from "../../src/core/agent/ports.ts";
import { textOf } from "../../src/core/message/message.ts";
import type { SubagentTask, Tool } from "../../src/core/tool/tool.ts";
import { calls, finishes, says, waits } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, lines, tool } from "./conversation.ts";

/** A tool that hands its prompt to a subagent and returns what it said and how it ended. */
function delegate(extra: Partial<SubagentTask> = {}): Tool {
  return tool("delegate", {
    execute: async (input, context) => {
      const { prompt } = input as { readonly prompt: string };
      const { text, stopReason } = await context.runAgent({ agent: "helper", prompt, ...extra });
      return `${stopReason}: ${text}`;
    },
  });
}

const PRICE = { price: { input: 1, output: 1 } };

test("a subagent has a transcript, a prompt and a cap of its own; the conversation gets what the tool returns", async () => {
  const model = new ScriptedModel([
    calls("delegate", { prompt: "Look." }),
    calls("read", { path: "a" }),
    calls("read", { path: "b" }),
    says("As far as I came."),
    says("Done."),
  ]);
  const agent = new Agent({
    model,
    systemPrompt: "Main.",
    maxIterations: 3,
    tools: [tool("read"), delegate({ systemPrompt: "Helper.", maxIterations: 2, effort: "low" })],
  });
  const result = await agent.run("go");
  expect(lines(result.messages)).toEqual([
    "user: go",
    'calls delegate {"prompt":"Look."}',
    "result call_1: max_iterations: As far as I came.",
    "assistant: Done.",
  ]);
  expect([result.iterations, result.usage]).toEqual([2, { inputTokens: 500, outputTokens: 100 }]);
  expect(model.requests.map(({ system, effort }) => [system, effort])).toEqual([
    ["Main.", undefined],
    ["Helper.", "low"],
    ["Helper.", "low"],
    ["Helper.", "low"],
    ["Main.", undefined],
  ]);
  expect(lines(model.requests[1]?.messages ?? [])).toEqual(["user: Look."]);
});

test("the tools of a subagent are its own registry: that of the run never changes, also while two run at once", async () => {
  const seen: (readonly string[])[] = [];
  const agent: Agent = new Agent({
    model: new ScriptedModel([
      [calls("delegate", { prompt: "one" }), calls("delegate", { prompt: "two" })],
      (request) => {
        seen.push(request.tools?.map(({ name }) => name) ?? []);
        expect(agent.tools.names()).toEqual(["read", "write", "delegate"]);
        return says("a");
      },
      says("b"),
      says("done"),
    ]),
    tools: [tool("read"), tool("write"), delegate({ tools: [tool("read")] })],
  });
  expect((await agent.run("go")).text).toBe("done");
  expect([seen, agent.tools.names()]).toEqual([[["read"]], ["read", "write", "delegate"]]);
});

test("events of a subagent are wrapped, from its beginning to its end, and stand in the journal under its scope", async () => {
  const journal = new MemoryJournal();
  const agent = new Agent({
    model: new ScriptedModel([calls("delegate", { prompt: "Look." }), says("inner"), says("outer")]),
    tools: [delegate()],
    journal,
  });
  const shown: string[] = [];
  let told = "";
  const tag = (event: AgentEvent): string =>
    event.type === "subagent" ? `${event.agent} ${event.callId} > ${tag(event.event)}` : event.type;
  for await (const event of agent.stream("go", { onToken: (text) => (told += text) })) shown.push(tag(event));
  expect(shown).toEqual([
    "run_start",
    "user_message",
    "turn_start",
    "tool_call_start",
    "tool_call_delta",
    "tool_call_delta",
    "assistant_message",
    "tool_intent",
    "helper call_1 > run_start",
    "helper call_1 > user_message",
    "helper call_1 > turn_start",
    "helper call_1 > text_delta",
    "helper call_1 > assistant_message",
    "helper call_1 > run_end",
    "tool_result",
    "turn_start",
    "text_delta",
    "assistant_message",
    "run_end",
    "done",
  ]);
  expect(told).toBe("outer");
  const scoped = [...journal.entries()].filter(({ scope }) => scope !== undefined);
  expect(scoped.map(({ type, scope }) => `${type} in ${scope}`)).toEqual([
    "run_start in delegate/call_1",
    "user_message in delegate/call_1",
    "assistant_message in delegate/call_1",
    "run_end in delegate/call_1",
  ]);
  const reopened = new Agent({ model: new ScriptedModel([]), journal });
  expect(reopened.getState()).toEqual(agent.getState());
});

test("hooks, gate and approver see the calls of a subagent, and who makes them", async () => {
  const asked: Pick<GateRequest, "name" | "parentCallId" | "agent">[] = [];
  const hooked: string[] = [];
  const agent = new Agent({
    model: new ScriptedModel([
      calls("delegate", { prompt: "Look." }),
      calls("write", { path: "a" }),
      says("I may not."),
      says("done"),
    ]),
    tools: [tool("write"), delegate()],
    permission: { check: ({ name }) => ({ action: name === "write" ? "ask" : "allow" }) },
    hooks: {
      pre_acting: (_agent, args) => {
        hooked.push(`${args.name} by ${args.parentCallId ?? "nobody"}`);
        return args;
      },
    },
    approve: ({ name, parentCallId, agent: asker }) => {
      asked.push({ name, parentCallId: parentCallId ?? "", agent: asker ?? "" });
      return { approved: false, reason: "no writing" };
    },
  });
  const { messages } = await agent.run("go");
  expect(hooked).toEqual(["delegate by nobody", "write by call_1"]);
  expect(asked).toEqual([{ name: "write", parentCallId: "call_1", agent: "helper" }]);
  expect(lines(messages)[2]).toBe("result call_1: completed: I may not.");
});

test("a subagent spends from the budget of the run, and stops with it", async () => {
  const agent = new Agent({
    model: new ScriptedModel(
      [
        calls("delegate", { prompt: "Look." }),
        [says("So far."), calls("read"), finishes("tool_use", { inputTokens: 1_000_000, outputTokens: 20 })],
      ],
      {
        info: PRICE,
      },
    ),
    tools: [tool("read"), delegate()],
    budget: { tokens: 1_000_000 },
  });
  const result = await agent.run("go");
  expect([result.stopReason, result.limit, lines(result.messages).at(-1)]).toEqual([
    "budget",
    "tokens",
    "result call_1: budget: So far.",
  ]);
});

test("a model without a known price is refused under a money budget, before it is asked anything", async () => {
  const agent = new Agent({
    model: new ScriptedModel([calls("delegate", { prompt: "Look." }), says("done")], { info: PRICE }),
    tools: [delegate({ model: new ScriptedModel([]) })],
    budget: { usd: 1 },
  });
  expect(lines((await agent.run("go")).messages)[2]).toMatch(
    /^error call_1: Error: A limit in money needs a price, and that of scripted\/scripted is unknown/,
  );
});

test("subagents nest as deep as allowed: the deepest does not have the tool, and asking for it all the same is an error", async () => {
  const offered: (readonly string[])[] = [];
  const note = (request: { readonly tools?: readonly { readonly name: string }[] }): void => {
    offered.push(request.tools?.map(({ name }) => name) ?? []);
  };
  const other = delegate();
  const renamed = { ...other, name: "other" };
  const agent = new Agent({
    model: new ScriptedModel([
      calls("delegate", { prompt: "one" }),
      (request) => {
        note(request);
        return calls("delegate", { prompt: "two" });
      },
      (request) => {
        note(request);
        return calls("other", { prompt: "three" });
      },
      says("deepest"),
      says("middle"),
      says("done"),
    ]),
    tools: [delegate(), renamed],
  });
  const events = await all(agent.stream("go"));
  const results: string[] = [];
  const collectResults = (event: AgentEvent): void => {
    if (event.type === "subagent") collectResults(event.event);
    if (event.type === "tool_result") results.push(textOf(event.result.content));
  };
  for (const event of events) collectResults(event);
  expect(offered).toEqual([["delegate", "other"], ["other"]]);
  expect(results).toEqual([
    "Error: A subagent at depth 3 exceeds the maximum depth of 2: do this part without one.",
    "completed: deepest",
    "completed: middle",
  ]);
});

test("an abort reaches the tools of a subagent and what it had written is kept; nothing is at work afterwards", async () => {
  const started = Promise.withResolvers<void>();
  let stopped = false;
  const slow = tool("slow", {
    execute: async (_input, { signal }) => {
      started.resolve();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      stopped = true;
      return "stopped";
    },
  });
  const agent = new Agent({
    model: new ScriptedModel([calls("delegate", { prompt: "Look." }), [says("Half."), calls("slow")]]),
    tools: [slow, delegate()],
  });
  const running = agent.run("go");
  await started.promise;
  agent.stop();
  const result = await running;
  expect([result.stopReason, stopped, lines(result.messages).at(-1)]).toEqual([
    "aborted",
    true,
    "error call_1: aborted: Half.",
  ]);
});

test("steering is for the conversation: a subagent does not take it", async () => {
  const gate = Promise.withResolvers<void>();
  const model = new ScriptedModel([
    calls("delegate", { prompt: "Look." }),
    [waits(gate.promise), says("inner")],
    says("done"),
  ]);
  const agent = new Agent({ model, tools: [delegate()] });
  const running = agent.run("go");
  agent.steer("Faster.");
  gate.resolve();
  const { messages } = await running;
  expect(lines(messages).filter((line) => line.startsWith("user"))).toEqual(["user: go", "user: Faster."]);
  expect(lines(model.requests[1]?.messages ?? [])).toEqual(["user: Look."]);
});

test("parallel subagents of a model that numbers its calls anew in each answer never share a call id", async () => {
  const both = Promise.withResolvers<void>();
  let inside = 0;
  const ids: string[] = [];
  const model = new ScriptedModel((request) => {
    const texts = lines(request.messages);
    if (texts[0] === "user: go")
      return texts.length === 1
        ? [calls("delegate", { prompt: "one" }, "a"), calls("delegate", { prompt: "two" }, "b")]
        : says("done");
    if (texts.length > 1) return says("read it");
    if (++inside === 2) both.resolve();
    return [calls("read", {}, "call_0"), waits(both.promise)];
  });
  const agent = new Agent({ model, tools: [tool("read"), delegate()] });
  for await (const event of agent.stream("go"))
    if (event.type === "subagent" && event.event.type === "tool_result") ids.push(event.event.callId);
  expect([new Set(ids).size, ids.length]).toEqual([2, 2]);
});
