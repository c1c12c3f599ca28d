import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { ApprovalAnswer, Gate } from "../../src/core/agent/ports.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { SimpleAgent } from "../../src/patterns/simple-agent.ts";
import { replaySession } from "../../src/session/replay/replay-session.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { createBatchTool } from "../../src/tools/batch-tool.ts";
import { all, eventTypes, lines, tool } from "./conversation.ts";

/** Reading is allowed; whatever removes is asked. */
const gate: Gate = {
  check: ({ name, input }) =>
    name === "remove"
      ? {
          action: "ask",
          reason: "it cannot be undone",
          rule: "ask remove",
          part: String(input["path"]),
          suggestion: `remove(${String(input["path"])})`,
        }
      : { action: "allow" },
};

/** An agent with a log of what ran, and more agents over the same journal. */
function room(answers: ConstructorParameters<typeof ScriptedModel>[0], options: Partial<AgentOptions> = {}) {
  const ran: string[] = [];
  const log = (name: string) =>
    tool(name, {
      execute: (input: unknown) => ran.push(`${name} ${JSON.stringify(input)}`) && `${name} done`,
    });
  const external = defineTool({ name: "ask_user", description: "Asks." });
  const model = new ScriptedModel(answers);
  const journal = new MemoryJournal();
  const open = (more: Partial<AgentOptions> = {}): Agent =>
    new Agent({
      model,
      journal,
      tools: [log("remove"), log("read"), external, createBatchTool()],
      permission: gate,
      onAsk: "pause",
      ...options,
      ...more,
    });
  return { ran, model, journal, open };
}

const REMOVALS = [
  calls("read", { path: "a" }),
  calls("remove", { path: "b" }),
  calls("remove", { path: "c" }),
];

test("a question nobody is there to answer ends the run; the calls beside it have run", async () => {
  const { ran, open } = room([REMOVALS]);
  const agent = open();
  const result = await agent.run("go");
  expect(result).toMatchObject({
    stopReason: "awaiting_approval",
    pending: [
      {
        callId: "call_2",
        name: "remove",
        input: { path: "b" },
        waitsFor: "approval",
        reason: "it cannot be undone",
        rule: "ask remove",
        part: "b",
        suggestion: "remove(b)",
      },
      { callId: "call_3", input: { path: "c" }, waitsFor: "approval" },
    ],
  });
  expect(ran).toEqual(['read {"path":"a"}']);
  await expect(agent.run()).rejects.toThrow(
    "Tool calls wait for your answer: remove (call_2), remove (call_3). Pass approvals: { [callId]: true } as an option.",
  );
});

test("a later run brings the answers: approved calls run, refused ones are told, the rest wait on", async () => {
  const { ran, open, model } = room([[...REMOVALS, calls("remove", { path: "d" })], says("done")]);
  const agent = open();
  await agent.run("go");
  const second = await agent.run(undefined, {
    approvals: { call_2: true, call_3: { approved: false, reason: "keep c" }, call_4: "later" },
  });
  expect([second.stopReason, second.pending?.map(({ callId }) => callId), second.iterations]).toEqual([
    "awaiting_approval",
    ["call_4"],
    1,
  ]);
  expect(ran).toEqual(['read {"path":"a"}', 'remove {"path":"b"}']);
  const third = await agent.run(undefined, { approvals: { call_4: true } });
  expect(lines(third.messages).slice(5)).toEqual([
    "result call_1: read done",
    "result call_2: remove done",
    "error call_3: Error: Tool call was not approved: keep c",
    "result call_4: remove done",
    "assistant: done",
  ]);
  expect([third.stopReason, third.pending]).toEqual(["completed", undefined]);
  model.assertFinished();
});

test("an approver may say later, for each call", async () => {
  const answers: { [path: string]: ApprovalAnswer } = { b: "later", c: false };
  const { open } = room([REMOVALS], { approve: ({ input }) => answers[String(input["path"])] ?? false });
  const result = await open().run("go");
  expect([result.stopReason, result.pending?.map(({ callId }) => callId)]).toEqual([
    "awaiting_approval",
    ["call_2"],
  ]);
});

test("another agent over the same journal takes the answers", async () => {
  const { ran, open } = room([REMOVALS, says("done")]);
  await open().run("go");
  const result = await open().run(undefined, { approvals: { call_2: true, call_3: true } });
  expect(result).toMatchObject({ text: "done", stopReason: "completed" });
  expect(ran).toEqual(['read {"path":"a"}', 'remove {"path":"b"}', 'remove {"path":"c"}']);
});

test("an answer to a call that does not wait is refused, before anything happens", async () => {
  const { ran, open, journal } = room([REMOVALS]);
  const agent = open();
  await expect(agent.run(undefined, { approvals: { call_2: true } })).rejects.toThrow("Waiting: none");
  await agent.run("go");
  const before = [...journal.entries()].length;
  await expect(agent.run(undefined, { approvals: { call_9: true, call_2: true } })).rejects.toThrow(
    'approvals answers "call_9", which does not wait for approval. Waiting: remove (call_2), remove (call_3).',
  );
  await expect(agent.run("and hurry", { approvals: { call_2: true } })).rejects.toThrow(
    "approvals and a message",
  );
  expect([[...journal.entries()].length, ran.length]).toEqual([before, 1]);
});

test("a message instead of an answer closes the open calls as not approved", async () => {
  const { ran, open } = room([REMOVALS, says("as you like")]);
  const agent = open();
  await agent.run("go");
  const { messages } = await agent.run("Never mind.");
  expect(lines(messages).slice(4)).toEqual([
    "result call_1: read done",
    "error call_2: Error: Tool call was not approved: the user said something else instead",
    "error call_3: Error: Tool call was not approved: the user said something else instead",
    "user: Never mind.",
    "assistant: as you like",
  ]);
  expect(ran).toHaveLength(1);
});

test("steering and what others say wait until the calls are answered", async () => {
  const { open } = room([[calls("remove", { path: "b" })], says("done")]);
  const agent = open();
  await agent.run("go");
  await agent.observe("Ann: hello");
  agent.steer("quickly");
  await expect(agent.run()).rejects.toThrow("Tool calls wait");
  const { messages } = await agent.run(undefined, { approvals: { call_1: true } });
  expect(lines(messages).slice(2)).toEqual([
    "result call_1: remove done",
    "user: quickly",
    "assistant: done",
  ]);
  expect(lines(agent.getState().messages).at(-1)).toBe("user: Ann: hello");
});

test("approval and results from outside wait side by side and come in parts, in any order", async () => {
  const both = [
    calls("remove", { path: "b" }),
    calls("ask_user"),
    calls("read", { path: "a" }),
    calls("ask_user"),
  ];
  const { open } = room([both, says("done")]);
  const paused = await open().run("go");
  expect([paused.stopReason, paused.pending?.map(({ callId, waitsFor }) => [callId, waitsFor])]).toEqual([
    "awaiting_approval",
    [
      ["call_1", "approval"],
      ["call_2", "result"],
      ["call_4", "result"],
    ],
  ]);
  const blue = await open().run([{ type: "tool_result", tool_use_id: "call_4", content: "blue" }]);
  const yes = await open().run(undefined, { approvals: { call_1: true } });
  const end = await open().run([{ type: "tool_result", tool_use_id: "call_2", content: "red" }]);
  expect([blue, yes, end].map(({ stopReason }) => stopReason)).toEqual([
    "awaiting_approval",
    "awaiting_external",
    "completed",
  ]);
  expect(lines(end.messages).slice(5)).toEqual([
    "result call_1: remove done",
    "result call_2: red",
    "result call_3: read done",
    "result call_4: blue",
    "assistant: done",
  ]);
});

test("approvals and results may come together", async () => {
  const { open } = room([[calls("remove", { path: "b" }), calls("ask_user")], says("done")]);
  await open().run("go");
  const end = await open().run([{ type: "tool_result", tool_use_id: "call_2", content: "red" }], {
    approvals: { call_1: false },
  });
  expect(end).toMatchObject({ stopReason: "completed", text: "done" });
});

test("a rule of today still forbids what is approved, and a refusal beats a rule that allows", async () => {
  const { ran, open } = room([REMOVALS, says("done")]);
  await open().run("go");
  const strict: Gate = {
    check: ({ input }) =>
      input["path"] === "b" ? { action: "deny", reason: "b is protected" } : { action: "allow" },
  };
  const { messages } = await open({ permission: strict }).run(undefined, {
    approvals: { call_2: true, call_3: false },
  });
  expect(lines(messages).slice(5, 7)).toEqual([
    "error call_2: Error: Tool call was not approved: b is protected",
    "error call_3: Error: Tool call was not approved: the user refused it",
  ]);
  expect(ran).toHaveLength(1);
});

test("an answer holds for what was shown: a call that has become another one is asked about again", async () => {
  const { ran, open } = room([[calls("remove", { path: "b" })]]);
  await open().run("go");
  const agent = open();
  agent.hooks.register("pre_acting", "root", (_agent, args) => ({ ...args, input: { path: "/" } }));
  const result = await agent.run(undefined, { approvals: { call_1: true } });
  expect([result.stopReason, result.pending?.[0]?.input, ran]).toEqual([
    "awaiting_approval",
    { path: "/" },
    [],
  ]);
});

test("a call inside another one cannot wait: it is refused with the reason", async () => {
  const inner = { calls: [{ tool: "remove", input: { path: "b" } }] };
  const { open } = room([calls("batch", inner), says("I see")]);
  const result = await open().run("go");
  expect(lines(result.messages)[2]).toContain(
    "it cannot be undone, and a call inside another one cannot wait for the answer: make it on its own",
  );
  const model = new ScriptedModel([calls("remove", { path: "b" }), says("I see")]);
  const tools = [tool("remove")];
  const nested = new SimpleAgent({ model, tools, permission: gate, onAsk: "pause", memory: "final-only" });
  expect(await nested.run("go")).toMatchObject({ stopReason: "completed", text: "I see" });
});

test("the run that stops the others: a refusal with stop ends it with denied", async () => {
  const { open } = room([REMOVALS]);
  await open().run("go");
  const result = await open().run(undefined, {
    approvals: { call_2: { approved: false, stop: true } },
  });
  expect(result.stopReason).toBe("denied");
  expect(lines(result.messages).at(-1)).toBe(
    "error call_3: Error: Tool call was not approved: it was not answered",
  );
});

test("a run that was cut in the middle of an approved call says so and goes on; nothing runs twice", async () => {
  const { ran, open, journal } = room([REMOVALS, says("done")]);
  await open().run("go");
  journal.append({ type: "run_start", sessionId: journal.sessionId, model: "m", tools: [] });
  journal.append({ type: "tool_intent", callId: "call_2", name: "remove", input: { path: "b" } });
  const agent = open();
  const { messages } = await agent.run(undefined, { approvals: { call_2: true, call_3: true } });
  expect(lines(messages).slice(5, 7)).toEqual([
    "error call_2: Error: interrupted, outcome unknown",
    "result call_3: remove done",
  ]);
  expect(ran).toEqual(['read {"path":"a"}', 'remove {"path":"c"}']);
});

test("a run that was cut among its calls goes on without input", async () => {
  const { open, journal } = room([says("done")]);
  journal.append({
    type: "user_message",
    message: { role: "user", content: [{ type: "text", text: "go" }] },
    source: "input",
  });
  journal.append({
    type: "assistant_message",
    message: {
      role: "assistant",
      content: ["x", "y"].map((id) => ({ type: "tool_use", id, name: "read", input: {} }) as const),
    },
    model: "m",
    finishReason: { unified: "tool_use", raw: "tool_use" },
    usage: { inputTokens: 1, outputTokens: 1 },
    durationMs: 1,
  });
  journal.append({ type: "tool_intent", callId: "x", name: "read", input: {} });
  expect(lines((await open().run()).messages).slice(3)).toEqual([
    "error x: Error: interrupted, outcome unknown",
    "error y: Error: interrupted before it ran",
    "assistant: done",
  ]);
});

test("the question is an entry of the journal and an event", async () => {
  const { open } = room([[calls("remove", { path: "b" })]]);
  expect(eventTypes(await all(open().stream("go"))).slice(-4)).toEqual([
    "assistant_message",
    "approval_request",
    "run_end",
    "done",
  ]);
});

test("a message with the result of a call that waits for approval answers that call and refuses the others", async () => {
  const { ran, journal, open } = room([REMOVALS, says("fine")]);
  await open().run("go");
  const result = await open().run([
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_2", content: "removed by hand" },
        { type: "text", text: "leave the other" },
      ],
    },
  ]);
  expect(result.text).toBe("fine");
  expect(ran).toEqual(['read {"path":"a"}']);
  const results = [...journal.entries()].filter((entry) => entry.type === "tool_result");
  expect(results.map(({ callId, status }) => [callId, status])).toEqual([
    ["call_1", "ok"],
    ["call_3", "denied"],
    ["call_2", "ok"],
  ]);
  const entries = [...journal.entries()];
  const cut = entries.map((_, at) => replaySession(entries.slice(0, at + 1)));
  expect((await Promise.all(cut)).flatMap(({ differences }) => differences)).toEqual([]);
});

test.each([
  ["a call that is not open", ["call_9"], 'the tool call "call_9", which is not open'],
  ["one call twice", ["call_2", "call_2"], 'the tool call "call_2", which is not open'],
])("a message with results of %s is refused before anything is recorded", async (_, ids, message) => {
  const { journal, open } = room([REMOVALS]);
  await open().run("go");
  const before = [...journal.entries()].length;
  const results = ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "done" }) as const);
  await expect(
    open().run([{ role: "user", content: [...results, { type: "text", text: "go on" }] }]),
  ).rejects.toThrow(message);
  expect([...journal.entries()].length).toBe(before);
});
