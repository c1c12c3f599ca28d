import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { GateDecision } from "../../src/core/agent/ports.ts";
import type { StandardSchema } from "../../src/core/base/schema.ts";
import { defineTool, type Tool } from "../../src/core/tool/tool.ts";
import { ReflectionAgent } from "../../src/patterns/reflection-agent.ts";
import { calls, type ScriptStep, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines, tool } from "./conversation.ts";

const ASKS: GateDecision = { action: "ask", reason: "it is live", code: "no_rule", place: "/x" };

/** The caller runs its calls. */
const external = defineTool({ name: "outside", description: "Goes out.", parameters: { type: "object" } });

/** A gate that decides by the name of the tool. */
const gate = (decisions: { readonly [name: string]: GateDecision }): Partial<AgentOptions> => ({
  permission: { check: ({ name }) => decisions[name] ?? { action: "allow" } },
});

/** A journal as a kill leaves it behind the first entry of a type. */
function killedAt(journal: MemoryJournal, type: JournalEntry["type"]): MemoryJournal {
  const entries = [...journal.entries()];
  const at = entries.findIndex((entry) => entry.type === type);
  return new MemoryJournal({ sessionId: journal.sessionId, entries: entries.slice(0, at + 1) });
}

function open(journal: MemoryJournal, steps: readonly ScriptStep[], options: Partial<AgentOptions>): Agent {
  return new Agent({ model: new ScriptedModel(steps), journal, onAsk: "pause", ...options });
}

/** A call of the caller's own was handed out, and the call beside it is killed that somebody allowed. */
async function handedOut(): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  const tools = [external, tool("local")];
  const first = open(journal, [[calls("outside", {}, "a"), calls("local", {}, "b")]], {
    tools,
    ...gate({ local: ASKS }),
  });
  expect((await first.run("go")).pending?.map(({ callId, waitsFor }) => [callId, waitsFor])).toEqual([
    ["a", "result"],
    ["b", "approval"],
  ]);
  await open(journal, [says("Done.")], { tools, ...gate({ local: ASKS }) }).run(undefined, {
    approvals: { b: true },
  });
  return killedAt(journal, "tool_intent");
}

const RESULT = { type: "tool_result", tool_use_id: "a", content: "a was done" } as const;

test.each<readonly [string, GateDecision]>([
  ["ask", ASKS],
  ["forbid it", { action: "deny", reason: "not today" }],
])("a call that was handed out is the caller's, though rules %s by now", async (_, decision) => {
  const journal = await handedOut();
  const options = { tools: [external, tool("local")], ...gate({ outside: decision }) };
  expect((await open(journal, [], options).run()).stopReason).toBe("awaiting_external");
  const { messages, stopReason } = await open(journal, [says("Done.")], options).run([
    { role: "user", content: [RESULT] },
  ]);
  expect([stopReason, lines(messages).includes("result a: a was done")]).toEqual(["completed", true]);
});

test("what is observed does not close a call that was handed out", async () => {
  const journal = await handedOut();
  const agent = open(journal, [says("Done.")], { tools: [external, tool("local")] });
  await agent.observe("Ann: hello");
  const { stopReason } = await agent.run([{ role: "user", content: [RESULT] }]);
  expect(stopReason).toBe("completed");
});

test("what is observed does not close a call that is to run when the run goes on", async () => {
  const journal = new MemoryJournal();
  const options = { tools: [tool("local")], openCalls: "run" } as const;
  await open(journal, [calls("local", {}, "a"), says("Done.")], options).run("go");
  const agent = open(killedAt(journal, "assistant_message"), [says("Done.")], options);
  await agent.observe("Ann: hello");
  expect(lines((await agent.run()).messages)[2]).toBe("result a: local {}");
});

test("a call of a later run is judged, though an earlier one had ended waiting", async () => {
  const journal = new MemoryJournal();
  const options = { tools: [external], ...gate({ outside: ASKS }) };
  await open(journal, [calls("outside", {}, "a")], options).run("go");
  await open(journal, [calls("outside", {}, "b")], options).run("something else");
  const entries = [...journal.entries()];
  const cut = new MemoryJournal({
    sessionId: journal.sessionId,
    entries: entries.slice(0, entries.findLastIndex(({ type }) => type === "assistant_message") + 1),
  });
  const { stopReason, pending } = await open(cut, [], options).run();
  expect([stopReason, pending?.map(({ callId, waitsFor }) => [callId, waitsFor])]).toEqual([
    "awaiting_approval",
    [["b", "approval"]],
  ]);
});

test("a stop that is given to a subagent of a call outside of runs ends nothing", async () => {
  const ran: string[] = [];
  const local = tool("local", { execute: (_input, { callId }) => ran.push(callId) && "ok" });
  const delegate: Tool = tool("delegate", {
    execute: async (_input, { runAgent }) => (await runAgent({ agent: "helper", prompt: "Help." })).text,
  });
  const options = { tools: [local, delegate], ...gate({ local: ASKS }) };
  const whole = new MemoryJournal();
  await open(whole, [calls("local", {}, "a")], options).run("go");
  const journal = killedAt(whole, "approval_request");
  const stops = { approve: () => ({ approved: false, stop: true }) } as const;
  await open(journal, [calls("local", {}, "inner")], { ...options, ...stops }).callTool("delegate", {});
  const agent = open(journal, [says("Done.")], options);
  const { stopReason } = await agent.run(undefined, { approvals: { a: true } });
  expect([stopReason, ran]).toEqual(["completed", ["a"]]);
});

test("a call that runs again gets what JSON does not keep as it was, beside what its schema makes once", async () => {
  const parameters: StandardSchema<{ readonly at: Date; readonly cents: number }> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (given) => {
        const { at, cents } = given as { readonly at: string; readonly cents: number };
        return { value: { at: new Date(at), cents: cents * 100 } };
      },
      jsonSchema: { input: () => ({ type: "object" }) },
    },
  };
  const paid: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays.",
    parameters,
    idempotent: true,
    execute: ({ at, cents }) => paid.push([at.getTime(), cents]) && "paid",
  });
  const options: Partial<AgentOptions> = {
    tools: [pay],
    openCalls: "run",
    permission: { check: () => ({ action: "allow" }) },
  };
  const journal = new MemoryJournal();
  const made = calls("pay", { at: "1970-01-01T00:00:01.000Z", cents: 2 }, "a");
  await open(journal, [made, says("Done.")], options).run("go");
  await open(killedAt(journal, "tool_intent"), [says("Done.")], options).run();
  expect(paid).toEqual([
    [1_000, 200],
    [1_000, 200],
  ]);
});

test("a limit that is lower by now takes no call away that was handed out", async () => {
  const journal = new MemoryJournal();
  const tools = [external];
  const three = ["a", "b", "c"].map((id) => calls("outside", {}, id));
  await open(journal, [three], { tools }).run("go");
  const agent = open(journal, [says("Done.")], { tools, maxCallsPerAnswer: 1 });
  const result = (id: string) =>
    ({ type: "tool_result", tool_use_id: id, content: `${id} was done` }) as const;
  const first = await agent.run([{ role: "user", content: [result("a")] }]);
  expect(first.pending?.map(({ callId }) => callId)).toEqual(["b", "c"]);
  const { stopReason } = await agent.run([{ role: "user", content: [result("b"), result("c")] }]);
  expect(stopReason).toBe("completed");
});

test("what is observed does not close a call of the caller's own that was allowed before a kill", async () => {
  const journal = new MemoryJournal();
  const options = { tools: [external], ...gate({ outside: ASKS }), approve: () => true };
  await open(journal, [calls("outside", {}, "a")], options).run("go");
  const agent = open(killedAt(journal, "permission_decision"), [says("Done.")], options);
  await agent.observe("Ann: hello");
  const { stopReason } = await agent.run([{ role: "user", content: [RESULT] }]);
  expect(stopReason).toBe("completed");
});

test("a pattern leaves a run that was cut behind its answer as it was begun: it has only to end", async () => {
  const journal = new MemoryJournal();
  const tools = [tool("local")];
  await open(journal, [calls("local", {}, "a"), says("The answer.")], { tools }).run("go");
  const entries = [...journal.entries()];
  const cut = new MemoryJournal({ sessionId: journal.sessionId, entries: entries.slice(0, -1) });
  const model = new ScriptedModel([]);
  const { stopReason, text } = await new ReflectionAgent({ model, tools, journal: cut }).run();
  expect([stopReason, text, model.requests.length]).toEqual(["completed", "The answer.", 0]);
});
