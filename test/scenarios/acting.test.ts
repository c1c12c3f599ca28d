import { expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { textOf } from "../../src/core/message/message.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { FakeClock } from "../../src/testing/fake-clock.ts";
import { calls, fails, finishes, type ScriptPiece, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, lines, tool } from "./conversation.ts";

async function act(answer: readonly ScriptPiece[], options: Omit<AgentOptions, "model">) {
  const model = new ScriptedModel([answer, says("end")]);
  const result = await new Agent({ model, ...options }).run("go");
  model.assertFinished();
  return lines(result.messages).filter((line) => line.startsWith("result") || line.startsWith("error"));
}

test("results stand in call order, whichever tool ends first", async () => {
  const slow = Promise.withResolvers<string>();
  const tools = [
    tool("slow", { execute: () => slow.promise }),
    tool("fast", { execute: () => (slow.resolve("slow one"), "fast one") }),
  ];
  expect(await act([calls("slow"), calls("fast")], { tools })).toEqual([
    "result call_1: slow one",
    "result call_2: fast one",
  ]);
});

test("calls run together, unless parallelToolCalls is false", async () => {
  for (const parallelToolCalls of [true, false]) {
    const log: string[] = [];
    const work = tool("work", {
      execute: async ({ n }: { n?: unknown }) => {
        log.push(`+${String(n)}`);
        await Promise.resolve();
        await Promise.resolve();
        log.push(`-${String(n)}`);
      },
    });
    await act([calls("work", { n: 1 }), calls("work", { n: 2 })], { tools: [work], parallelToolCalls });
    expect(log).toEqual(parallelToolCalls ? ["+1", "+2", "-1", "-2"] : ["+1", "-1", "+2", "-2"]);
  }
});

test("two writes of one resource never overlap", async () => {
  const log: string[] = [];
  const edit = tool("edit", {
    access: ({ path }: { path?: unknown }) => ({ write: [String(path)] }),
    execute: async ({ path, n }: { path?: unknown; n?: unknown }) => {
      log.push(`+${String(path)}${String(n)}`);
      for (let i = 0; i < 5; i++) await Promise.resolve();
      log.push(`-${String(path)}${String(n)}`);
    },
  });
  await act(
    [
      calls("edit", { path: "a", n: 1 }),
      calls("edit", { path: "a", n: 2 }),
      calls("edit", { path: "b", n: 3 }),
    ],
    {
      tools: [edit],
    },
  );
  expect(log.filter((line) => line.includes("a"))).toEqual(["+a1", "-a1", "+a2", "-a2"]);
  expect(log.indexOf("+b3")).toBeLessThan(log.indexOf("-a1"));
});

test("what a tool returns is brought to one result: value, promise, object, nothing, generator", async () => {
  const tools = [
    tool("value", { execute: () => "text" }),
    tool("promise", { execute: async () => ({ a: [1, 2n] }) }),
    tool("nothing", { execute: () => undefined }),
    tool("titled", { execute: () => ({ title: "T", output: "out", metadata: {} }) }),
    tool("failing", { execute: () => ({ content: "no luck", isError: true }) }),
    tool("sync", {
      execute: function* () {
        yield "one ";
        yield { text: "two" };
      },
    }),
    tool("async", {
      execute: async function* () {
        yield "working";
        return "final";
      },
    }),
  ];
  expect(
    await act(
      tools.map(({ name }) => calls(name)),
      { tools },
    ),
  ).toEqual([
    "result call_1: text",
    'result call_2: {"a":[1,"2"]}',
    "result call_3: (no output)",
    "result call_4: out",
    "error call_5: no luck",
    "result call_6: one two",
    "result call_7: final",
  ]);
});

test("progress of a tool is published while it runs", async () => {
  const work = tool("work", {
    execute: (_input, context) => {
      context.update("a");
      context.update({ text: "b", metadata: { percent: 50 } });
      return "done";
    },
  });
  const agent = new Agent({ model: new ScriptedModel([calls("work"), says("end")]), tools: [work] });
  const updates = (await all(agent.stream("go"))).filter(({ type }) => type === "tool_update");
  expect(updates).toEqual([
    { type: "tool_update", callId: "call_1", name: "work", text: "a" },
    { type: "tool_update", callId: "call_1", name: "work", text: "b", metadata: { percent: 50 } },
  ]);
});

test("everything that goes wrong with a call is an error result the model can act on", async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const tools = [
    defineTool({
      name: "strict",
      description: "s",
      parameters: z.object({ path: z.string() }),
      execute: ({ path }) => path,
    }),
    tool("throws", {
      execute: () => {
        throw new Error("disk on fire");
      },
    }),
    tool("rejects", { execute: () => Promise.reject(new Error("later")) }),
    tool("cyclic", { execute: () => cyclic }),
  ];
  const results = await act(
    [
      calls("strikt", {}),
      calls("strict", { path: 1 }),
      calls("strict", "[1, 2"),
      calls("throws"),
      calls("rejects"),
      calls("cyclic"),
      calls("strict", { path: "ok" }),
    ],
    { tools },
  );
  expect(results).toEqual([
    "error call_1: Error: Unknown tool: strikt. Did you mean strict? Available: strict, throws, rejects, cyclic.",
    expect.stringMatching(/^error call_2: Error: Invalid arguments for strict, so it was not run:\npath: /),
    "error call_3: Error: The arguments of strict are not a JSON object, so it was not run. They were: [1, 2",
    "error call_4: Error: disk on fire",
    "error call_5: Error: later",
    expect.stringMatching(/^error call_6: Error: The tool returned a value that cannot be serialised/),
    "result call_7: ok",
  ]);
});

test("a tool that never settles is given up after its time limit, and its signal fires", async () => {
  let aborted = false;
  const hangs = tool("hangs", {
    timeoutMs: 60_000,
    abortGraceMs: 0,
    execute: (_input, { signal }) =>
      new Promise(() => signal.addEventListener("abort", () => (aborted = true), { once: true })),
  });
  const clock = new FakeClock();
  const acting = act([calls("hangs")], { tools: [hangs], clock });
  await clock.untilSleeping();
  await clock.advance(59_999);
  expect(aborted).toBe(false);
  await clock.advance(1);
  expect(await acting).toEqual([
    "error call_1: Error: The call was stopped after 60000 ms. Do less in one call, or raise the time limit.",
  ]);
  expect(clock.sleeping).toBe(0);
  expect(aborted).toBe(true);
});

test("a call that the output limit cut is not run, and the model is told", async () => {
  let ran = false;
  const write = tool("write", { execute: () => (ran = true) });
  const model = new ScriptedModel([
    [calls("write", '{"path":"a","content":"lo'), finishes("length")],
    says("shorter"),
  ]);
  const result = await new Agent({ model, tools: [write] }).run("go");
  expect(lines(result.messages).slice(1)).toEqual([
    "calls write {}",
    expect.stringMatching(/^error call_1: Error: /),
    "assistant: shorter",
  ]);
  expect(ran).toBe(false);
});

test("a huge result loses its middle, and lone surrogates are mended", async () => {
  const tools = [
    tool("huge", { execute: () => "x".repeat(10_000) }),
    tool("broken", { execute: () => "a\uD800b" }),
  ];
  const [huge, broken] = await act([calls("huge"), calls("broken")], { tools, maxToolResultChars: 1000 });
  expect(huge?.length).toBeLessThan(1200);
  expect(broken).toBe("result call_2: a\uFFFDb");
});

test("a finish result ends the run after every call of the answer has its result", async () => {
  const finish = tool("finish", { execute: () => ({ content: "ok", finish: { text: "the answer" } }) });
  const model = new ScriptedModel([[calls("finish"), calls("read")]]);
  const result = await new Agent({ model, tools: [finish, tool("read")] }).run("go");
  expect([result.stopReason, result.text]).toEqual(["finish_tool", "the answer"]);
  expect(lines(result.messages).slice(3)).toEqual(["result call_1: ok", "result call_2: read {}"]);
});

test("a tool calls other tools through the same path, and only its own result is in the transcript", async () => {
  const outer = tool("outer", {
    execute: async (_input, context) => {
      const inner = await context.callTool("read", { path: "a" });
      const missing = await context.callTool("nope", {});
      return `${textOf(inner.content)} / ${String(missing.isError)}`;
    },
  });
  const asked: string[] = [];
  const agent = new Agent({
    model: new ScriptedModel([calls("outer"), says("end")]),
    tools: [outer, tool("read")],
    permission: { check: ({ name, callId }) => (asked.push(`${name} ${callId}`), { action: "allow" }) },
  });
  const events = await all(agent.stream("go"));
  expect(asked).toEqual(["outer call_1", "read call_1/1"]);
  expect(
    events
      .filter(({ type }) => type === "tool_result")
      .map((event) => ("parentCallId" in event ? event.parentCallId : "none")),
  ).toEqual(["call_1", "call_1", "none"]);
  expect(lines(agent.getState().messages)).toEqual([
    "user: go",
    "calls outer {}",
    'result call_1: read {"path":"a"} / true',
    "assistant: end",
  ]);
});

test("a tool without execute is left to the caller, whose answer a later run brings", async () => {
  const external = defineTool({ name: "ask_user", description: "Asks." });
  const model = new ScriptedModel([[calls("ask_user"), calls("read")], says("thanks")]);
  const agent = new Agent({ model, tools: [external, tool("read")] });
  expect(await agent.run("go")).toMatchObject({ stopReason: "awaiting_external" });
  await expect(agent.run()).rejects.toThrow("Tool calls wait for your answer: ask_user (call_1)");
  const result = await agent.run([{ type: "tool_result", tool_use_id: "call_1", content: "blue" }]);
  expect(lines(result.messages)).toEqual([
    "user: go",
    "calls ask_user {}",
    "calls read {}",
    "result call_1: blue",
    "result call_2: read {}",
    "assistant: thanks",
  ]);
});

test("a failure that has a cause is told to the model with it", async () => {
  const refused = new AggregateError([new Error("connect ECONNREFUSED ::1:1"), new Error("refused too")], "");
  const look = tool("look", {
    execute: () => {
      throw new TypeError("fetch failed", { cause: refused });
    },
  });
  const model = new ScriptedModel([calls("look"), fails("down")]);
  const agent = new Agent({ model, tools: [look] });
  await expect(agent.sendMessage("go")).rejects.toMatchObject({
    name: "RunError",
    message: "down. The conversation is kept: run() without an input continues it.",
  });
  const [block] = agent.getState().messages.at(-1)?.content ?? [];
  expect(block?.type === "tool_result" && textOf(block.content)).toBe(
    "Error: fetch failed: connect ECONNREFUSED ::1:1; refused too",
  );
});
