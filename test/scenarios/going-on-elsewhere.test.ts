import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { Approvals, Approver, GateDecision } from "../../src/core/agent/ports.ts";
import { PlanAndSolveAgent } from "../../src/patterns/plan-and-solve-agent.ts";
import { ReflectionAgent } from "../../src/patterns/reflection-agent.ts";
import { replaySession } from "../../src/session/replay/replay-session.ts";
import { calls, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines, tool } from "./conversation.ts";

const ASKS: GateDecision = { action: "ask", reason: "it is live", code: "no_rule", place: "/x" };

/** Calls of `deploy` that wait in the conversation of a plain agent. */
async function waiting(...targets: readonly string[]) {
  const ran: unknown[] = [];
  const deploy = tool("deploy", {
    execute: ({ to }: { readonly to?: unknown }) => ran.push(to) && "deployed",
  });
  const options = { tools: [deploy], onAsk: "pause", permission: { check: () => ASKS } } as const;
  const journal = new MemoryJournal();
  const model = new ScriptedModel([targets.map((to) => calls("deploy", { to }, to))]);
  await new Agent({ model, journal, ...options }).run("go");
  return { ran, journal, options };
}

/** The entries of a journal up to one of a type, the first or another one. */
function upTo(journal: MemoryJournal, type: JournalEntry["type"], nth = 0): MemoryJournal {
  const entries = [...journal.entries()];
  const at = entries.flatMap((entry, index) => (entry.type === type ? [index] : []))[nth] ?? -1;
  return new MemoryJournal({ sessionId: journal.sessionId, entries: entries.slice(0, at + 1) });
}

type Elsewhere = readonly [string, (options: AgentOptions) => Agent];

const ELSEWHERE: readonly Elsewhere[] = [
  ["an agent that keeps only answers", (options) => new Agent({ ...options, memory: "final-only" })],
  ["an agent that reflects", (options) => new ReflectionAgent(options)],
  ["an agent that plans", (options) => new PlanAndSolveAgent(options)],
];

const RESULT_OF_A = ["user: go", 'calls deploy {"to":"a"}', "result a: deployed"];

test.each(ELSEWHERE)("%s goes on with the answers to calls that wait", async (_, make) => {
  const { ran, journal, options } = await waiting("a", "b");
  const model = new ScriptedModel([says("Done.")]);
  const first = await make({ model, journal, ...options }).run(undefined, { approvals: { a: true } });
  expect([first.stopReason, first.pending?.map(({ callId }) => callId), ran]).toEqual([
    "awaiting_approval",
    ["b"],
    ["a"],
  ]);
  const second = await make({ model, journal, ...options }).run(undefined, { approvals: { b: false } });
  expect([second.stopReason, second.text, ran]).toEqual(["completed", "Done.", ["a"]]);
  expect(model.requests.map(({ messages }) => lines(messages))).toEqual([
    [
      "user: go",
      'calls deploy {"to":"a"}',
      'calls deploy {"to":"b"}',
      "result a: deployed",
      "error b: Error: Tool call was not approved: the user refused it",
    ],
  ]);
});

test.each(ELSEWHERE)("%s goes on with a yes after a kill", async (_, make) => {
  const { ran, journal, options } = await waiting("a");
  const killed = upTo(journal, "approval_request");
  const model = new ScriptedModel([says("Done.")]);
  const { stopReason } = await make({ model, journal: killed, ...options }).run(undefined, {
    approvals: { a: true },
  });
  expect([stopReason, ran]).toEqual(["completed", ["a"]]);
  expect(model.requests.map(({ messages }) => lines(messages))).toEqual([RESULT_OF_A]);
});

test.each(ELSEWHERE)("%s goes on behind a call that has its result", async (_, make) => {
  const { ran, journal, options } = await waiting("a");
  const whole = { journal, model: new ScriptedModel([says("Done.")]), ...options };
  await new Agent(whole).run(undefined, { approvals: { a: true } });
  const model = new ScriptedModel([says("Done.")]);
  const { text } = await make({ ...options, model, journal: upTo(journal, "tool_result") }).run();
  expect([text, ran, model.requests.map(({ messages }) => lines(messages))]).toEqual([
    "Done.",
    ["a"],
    [RESULT_OF_A],
  ]);
});

test.each(ELSEWHERE)("%s ends with a no that stops", async (_, make) => {
  const { journal, options } = await waiting("a");
  const model = new ScriptedModel([says("Done.")]);
  const { stopReason } = await make({ model, journal, ...options }).run(undefined, {
    approvals: { a: { approved: false, stop: true } },
  });
  expect([stopReason, model.requests]).toEqual(["denied", []]);
});

/** A journal cut at an entry behind the answers to two calls, one call after the other. */
async function answeredTwice(approvals: Approvals) {
  const { ran, journal, options } = await waiting("a", "b");
  const open = (over: MemoryJournal): Agent =>
    new Agent({
      ...options,
      model: new ScriptedModel([says("Done.")]),
      journal: over,
      parallelToolCalls: false,
    });
  await open(journal).run(undefined, { approvals });
  ran.length = 0;
  return { ran, journal, open };
}

const UNKNOWN = "Error: interrupted, outcome unknown";

test.each<
  readonly [string, { readonly type: JournalEntry["type"]; readonly nth: number }, readonly string[]]
>([
  ["one call has begun", { type: "tool_intent", nth: 0 }, [`error a: ${UNKNOWN}`, "result b: deployed"]],
  ["one call has its result", { type: "tool_result", nth: 0 }, ["result a: deployed", "result b: deployed"]],
  ["both calls have begun", { type: "tool_intent", nth: 1 }, ["result a: deployed", `error b: ${UNKNOWN}`]],
  [
    "both calls have their results",
    { type: "tool_result", nth: 1 },
    ["result a: deployed", "result b: deployed"],
  ],
])("the same answers may be given again after a kill where %s", async (_, { type, nth }, results) => {
  const approvals = { a: true, b: true };
  const { ran, journal, open } = await answeredTwice(approvals);
  const { stopReason, messages } = await open(upTo(journal, type, nth)).run(undefined, { approvals });
  // What had begun does not run once more.
  expect([stopReason, ran, lines(messages).slice(3, 5)]).toEqual([
    "completed",
    nth === 0 ? ["b"] : [],
    results,
  ]);
});

test("a no beside a yes may be given again where its call has its refusal", async () => {
  const approvals = { a: false, b: true };
  const { ran, journal, open } = await answeredTwice(approvals);
  const { messages } = await open(upTo(journal, "tool_result")).run(undefined, { approvals });
  expect([ran, lines(messages).slice(3, 5)]).toEqual([
    ["b"],
    ["error a: Error: Tool call was not approved: the user refused it", "result b: deployed"],
  ]);
});

/** Who decided what in a run whose gate asks once and allows from then on, and whether it is replayed so. */
async function decided(approve: Approver, needsApproval = false) {
  const journal = new MemoryJournal();
  const model = new ScriptedModel([calls("deploy", { to: "a" }, "a"), says("Done.")]);
  let count = 0;
  const check = (): GateDecision => (count++ === 0 ? ASKS : { action: "allow" });
  const tools = [tool("deploy", { needsApproval })];
  const { messages } = await new Agent({ model, journal, tools, permission: { check }, approve }).run("go");
  const entries = [...journal.entries()];
  const decisions = entries.flatMap((entry) => (entry.type === "permission_decision" ? [entry] : []));
  const { differences } = await replaySession(entries);
  return [decisions.map(({ action, by }) => `${action} by ${by}`), lines(messages)[2], differences];
}

test("a yes that a rule gave is on record as one of a rule", async () => {
  const ran = 'result a: deploy {"to":"a"}';
  expect(await decided(() => ({ approved: true, unasked: true }))).toEqual([["allow by rule"], ran, []]);
});

test("a yes that a person gave is on record as theirs", async () => {
  expect(await decided(() => true)).toEqual([["allow by person"], 'result a: deploy {"to":"a"}', []]);
});

test("a yes of a rule leaves what the tool asks to the person, whose yes is on record", async () => {
  const approve: Approver = ({ decision }) =>
    decision.code === "no_rule" ? { approved: true, unasked: true } : true;
  expect(await decided(approve, true)).toEqual([["allow by person"], 'result a: deploy {"to":"a"}', []]);
});
