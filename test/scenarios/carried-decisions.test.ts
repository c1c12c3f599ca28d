import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { Approvals, Gate, GateDecision } from "../../src/core/agent/ports.ts";
import type { StandardSchema } from "../../src/core/base/schema.ts";
import { defineTool } from "../../src/core/tool/tool.ts";
import { replaySession } from "../../src/session/replay/replay-session.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines, tool } from "./conversation.ts";

const ASKS: GateDecision = { action: "ask", reason: "it is live", code: "no_rule", place: "/x" };

const always = (decision: GateDecision): Partial<AgentOptions> => ({ permission: { check: () => decision } });

/** Calls of `deploy` that wait for their answers, and agents that go on with them. */
async function waiting(targets: readonly string[], options: Partial<AgentOptions> = always(ASKS)) {
  const journal = new MemoryJournal();
  const made = targets.map((to) => calls("deploy", { to }, to));
  const model = new ScriptedModel([made, says("Done.")]);
  const ran: unknown[] = [];
  const deploy = tool("deploy", {
    execute: ({ to }: { readonly to?: unknown }) => ran.push(to) && "deployed",
  });
  const open = (more: Partial<AgentOptions> = {}): Agent =>
    new Agent({ model, journal, tools: [deploy], onAsk: "pause", ...options, ...more });
  const { pending = [] } = await open().run("go");
  const go = (approvals: Approvals, more: Partial<AgentOptions> = {}) =>
    open(more).run(undefined, { approvals });
  return { journal, model, ran, pending, open, go };
}

/** A schema that makes something of what it is given, each time once more. */
function making(make: (given: { readonly [key: string]: unknown }) => unknown): StandardSchema {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (given) => ({ value: make(given as { readonly [key: string]: unknown }) }),
      jsonSchema: { input: () => ({ type: "object" }) },
    },
  };
}

test.each<readonly [string, Partial<AgentOptions>]>([
  ["a rule of today forbids it", always({ action: "deny", reason: "not today" })],
  ["a hook refuses it", { hooks: { pre_acting: (_, call) => ({ ...call, refuse: "never" }) } }],
  ["its tool is gone", { tools: [] }],
])("a no that stops ends the run where %s", async (_, then) => {
  const { go, model } = await waiting(["a"]);
  const { stopReason, messages } = await go({ a: { approved: false, stop: true, reason: "leave it" } }, then);
  expect([stopReason, lines(messages)[2], model.requests.length]).toEqual([
    "denied",
    "error a: Error: Tool call was not approved: leave it",
    1,
  ]);
});

test("a stop among several answers holds for what was allowed beside it", async () => {
  const { go, ran } = await waiting(["a", "b"]);
  const { stopReason } = await go({ a: true, b: { approved: false, stop: true } });
  expect([stopReason, ran]).toEqual(["denied", []]);
});

test("the question of a tool keeps the place that the gate says", async () => {
  const needing = tool("deploy", { needsApproval: true, execute: () => "deployed" });
  const at = (place: string): Partial<AgentOptions> => ({
    ...always({ action: "allow", place }),
    tools: [needing],
  });
  const { go, pending } = await waiting(["a"], at("/x"));
  expect(pending[0]).toMatchObject({ code: "needs_approval", place: "/x" });
  expect((await go({ a: true }, at("/y"))).stopReason).toBe("awaiting_approval");
  expect((await go({ a: true }, at("/y"))).stopReason).toBe("completed");
});

test("an answer that names an earlier question is none to the one that is open", async () => {
  const { go, pending, ran } = await waiting(["a"]);
  const old = pending[0]?.question ?? "";
  const moved = always({ ...ASKS, place: "/y" });
  const { pending: anew = [] } = await go({ a: { approved: true, question: old } }, moved);
  expect(anew[0]?.question).not.toBe(old);
  expect((await go({ a: { approved: true, question: old } }, moved)).stopReason).toBe("awaiting_approval");
  expect(ran).toEqual([]);
  await go({ a: { approved: true, question: anew[0]?.question ?? "" } }, moved);
  expect(ran).toEqual(["a"]);
});

test("a no that a person said before a kill holds, and a yes is asked for again", async () => {
  const { journal, open, ran } = await waiting(["a", "b", "c"], { ...always(ASKS), onAsk: "pause" });
  await open().run(undefined, { approvals: { a: false, b: true } });
  expect(ran).toEqual(["b"]);
  // As a kill leaves it before anything came of the decisions.
  const entries = [...journal.entries()];
  const cut = entries.slice(
    0,
    entries.findIndex(({ type }) => type === "tool_intent"),
  );
  const copy = (): MemoryJournal => new MemoryJournal({ sessionId: journal.sessionId, entries: cut });
  const paused = await open({ journal: copy() }).run();
  expect([paused.stopReason, paused.pending?.map(({ callId }) => callId)]).toEqual([
    "awaiting_approval",
    ["b", "c"],
  ]);
  // Whoever keeps answers gives them all again.
  const approvals = { a: true, b: true, c: true };
  const { messages } = await open({ journal: copy() }).run(undefined, { approvals });
  expect([ran, lines(messages).slice(4, 7)]).toEqual([
    ["b", "b", "c"],
    [
      "error a: Error: Tool call was not approved: the user refused it",
      "result b: deployed",
      "result c: deployed",
    ],
  ]);
});

test.each([
  ["as it was asked about", ASKS, true, "a"],
  ["as a person changed it", ASKS, { approved: true, input: { to: "b" } }, "b"],
] as const)(
  "a call of the caller's own waits for its result once it is allowed, %s",
  async (_, decision, answer, to) => {
    const journal = new MemoryJournal();
    const model = new ScriptedModel([calls("deploy", { to: "a" }, "a"), says("Done.")]);
    const external = defineTool({ name: "deploy", description: "Deploys.", parameters: { type: "object" } });
    const open = (): Agent =>
      new Agent({ model, journal, tools: [external], onAsk: "pause", ...always(decision) });
    let paused = await open().run("go");
    if (answer !== undefined) paused = await open().run(undefined, { approvals: { a: answer } });
    expect([paused.stopReason, paused.pending]).toEqual([
      "awaiting_external",
      [{ callId: "a", name: "deploy", input: { to }, waitsFor: "result" }],
    ]);
    const { text } = await open().run([{ type: "tool_result", tool_use_id: "a", content: "done" }]);
    const report = await replaySession([...journal.entries()]);
    expect([text, report.differences]).toEqual(["Done.", []]);
  },
);

test("a call that runs again after a kill does so with what a person had put in its place", async () => {
  const paid: unknown[] = [];
  const pay = tool("deploy", { idempotent: true, execute: (input: unknown) => paid.push(input) && "paid" });
  const { go, journal, open } = await waiting(["a"], { ...always(ASKS), tools: [pay], openCalls: "run" });
  await go({ a: { approved: true, input: { to: "b" } } });
  const entries = [...journal.entries()];
  const cut = entries.slice(
    0,
    entries.findIndex(({ type }) => type === "tool_result"),
  );
  const killed = new MemoryJournal({ sessionId: journal.sessionId, entries: cut });
  const { pending } = await open({ journal: killed }).run();
  expect(pending?.map(({ input }) => input)).toEqual([{ to: "b" }]);
  await open({ journal: killed }).run(undefined, { approvals: { a: true } });
  expect(paid).toEqual([{ to: "b" }, { to: "b" }]);
});

/** The entries of a journal up to the first of a kind. */
const upTo = (journal: MemoryJournal, type: JournalEntry["type"]): readonly JournalEntry[] => {
  const entries = [...journal.entries()];
  return entries.slice(0, entries.findIndex((entry) => entry.type === type) + 1);
};

test("a call of the caller's own gets past its yes where rules allow it by now, elsewhere", async () => {
  const external = defineTool({ name: "deploy", description: "Deploys.", parameters: { type: "object" } });
  const { go } = await waiting(["a"], { ...always(ASKS), tools: [external] });
  const { stopReason } = await go({ a: true }, always({ action: "allow", place: "/y" }));
  expect(stopReason).toBe("awaiting_external");
});

test("a call of the caller's own that was cut before it was judged is judged, and one that waits is not again", async () => {
  const external = defineTool({ name: "deploy", description: "Deploys.", parameters: { type: "object" } });
  const { journal, open } = await waiting(["a"], { ...always(ASKS), tools: [external] });
  const killed = new MemoryJournal({
    sessionId: journal.sessionId,
    entries: upTo(journal, "assistant_message"),
  });
  expect((await open({ journal: killed }).run()).stopReason).toBe("awaiting_approval");

  let judged = 0;
  const check = (): GateDecision => ({ action: judged++ < 2 ? "allow" : "deny" });
  const two = new MemoryJournal();
  const model = new ScriptedModel([[calls("deploy", {}, "a"), calls("deploy", {}, "b")], says("Done.")]);
  const agent = new Agent({ model, journal: two, tools: [external], permission: { check } });
  await agent.run("go");
  const answerTo = (id: string) => agent.run([{ type: "tool_result", tool_use_id: id, content: "done" }]);
  expect([(await answerTo("a")).stopReason, (await answerTo("b")).text, judged]).toEqual([
    "awaiting_external",
    "Done.",
    2,
  ]);
});

test("a stop that is given to a call outside of runs stops none", async () => {
  const { go, open, ran } = await waiting(["a"]);
  await open({ approve: () => ({ approved: false, stop: true }) }).callTool("deploy", { to: "b" });
  await go({ a: true });
  expect(ran).toEqual(["a"]);
});

test("hooks after a call are told that it ran only where it did", async () => {
  const told: (readonly [string, boolean])[] = [];
  const stop = new AbortController();
  const agent = new Agent({
    model: new ScriptedModel([[calls("deploy", {}, "a"), calls("deploy", {}, "b")], says("Done.")]),
    tools: [tool("deploy", { access: "exclusive", execute: () => "deployed" })],
    permission: { check: ({ callId }) => ({ action: callId === "a" ? "allow" : "deny", reason: "no" }) },
    hooks: { post_acting: (_, { callId, hasRun = false }) => void told.push([callId, hasRun]) },
  });
  await agent.run("go", { signal: stop.signal });
  const cut = new Agent({
    model: new ScriptedModel([calls("deploy", {}, "c"), says("Done.")]),
    tools: [tool("deploy")],
    hooks: { post_acting: (_, { callId, hasRun = false }) => void told.push([callId, hasRun]) },
  });
  await cut.run("go", {
    signal: stop.signal,
    onEvent: ({ type }) => {
      if (type === "tool_intent") stop.abort();
    },
  });
  expect(Object.fromEntries(told)).toEqual({ a: true, b: false, c: false });
});

test("a person who gives back what they were shown has changed nothing", async () => {
  const ran: unknown[] = [];
  const open = defineTool({
    name: "open",
    description: "Opens.",
    parameters: making(({ hosts }) => ({ hosts: new Set(hosts as string[]), match: /a/ })),
    execute: (input) => ran.push(input) && "open",
  });
  const agent = new Agent({
    model: new ScriptedModel([calls("open", { hosts: ["a"] }), says("Done.")]),
    tools: [open],
    permission: { check: () => ASKS },
    approve: ({ input }) => ({ approved: true, input }),
  });
  await agent.run("go");
  expect(ran).toEqual([{ hosts: new Set(["a"]), match: /a/ }]);
});

const forbidding =
  (to: string): Gate["check"] =>
  ({ input }) =>
    input["to"] === to ? { action: "deny", reason: "not there" } : ASKS;

const CHANGING: AgentOptions["hooks"] = { pre_acting: (_, call) => ({ ...call, input: { to: "b" } }) };

test.each<readonly [string, Approvals, Partial<AgentOptions>]>([
  ["denied by a rule", { a: true }, always({ action: "deny", reason: "not today" })],
  ["allowed by a rule", { a: true }, always({ action: "allow" })],
  ["edited", { a: { approved: true, input: { to: "b" } } }, {}],
  [
    "edited and denied",
    { a: { approved: true, input: { to: "b" } } },
    { permission: { check: forbidding("b") } },
  ],
  ["changed by a hook and denied", { a: true }, { permission: { check: forbidding("b") }, hooks: CHANGING }],
  ["asked about anew", { a: true }, { ...always({ ...ASKS, place: "/y" }), approve: () => true }],
  [
    "asked about anew and refused",
    { a: true },
    { ...always({ ...ASKS, place: "/y" }), approve: () => false },
  ],
  ["stopped", { a: { approved: false, stop: true }, b: true }, {}],
])("a run with a later answer is replayed the same: %s", async (_, approvals, then) => {
  const { go, journal } = await waiting(["a", "b"]);
  await go(approvals, then);
  const report = await replaySession([...journal.entries()]);
  expect([report.same, report.differences]).toEqual([true, []]);
});
