import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { JournalEntry } from "../../src/core/agent/entries.ts";
import { MemoryJournal } from "../../src/core/agent/journal.ts";
import type { ApprovalAnswer, Approver, GateDecision } from "../../src/core/agent/ports.ts";
import type { StandardSchema } from "../../src/core/base/schema.ts";
import { defineTool, type Tool } from "../../src/core/tool/tool.ts";
import { replaySession } from "../../src/session/replay/replay-session.ts";
import { calls, type ScriptStep, says } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { lines, tool } from "./conversation.ts";

const ASKS: GateDecision = { action: "ask", reason: "it is live", code: "no_rule", place: "/x" };

const NO: GateDecision = { action: "deny", reason: "not today" };

const always = (decision: GateDecision): Partial<AgentOptions> => ({ permission: { check: () => decision } });

const STOPS: Partial<AgentOptions> = { approve: () => ({ approved: false, stop: true }) };

/** The caller runs its calls. */
const external = defineTool({ name: "deploy", description: "Deploys.", parameters: { type: "object" } });

/** A journal as a kill leaves it behind the first entry that is of a type, or of which something holds. */
function killedAfter(
  journal: MemoryJournal,
  where: JournalEntry["type"] | ((entry: JournalEntry) => boolean),
): MemoryJournal {
  const entries = [...journal.entries()];
  const at = entries.findIndex((entry) => (typeof where === "string" ? entry.type === where : where(entry)));
  return new MemoryJournal({ sessionId: journal.sessionId, entries: entries.slice(0, at + 1) });
}

/** A run of an agent over a journal, as one process makes it. */
function begin(journal: MemoryJournal, steps: readonly ScriptStep[], options: Partial<AgentOptions>): Agent {
  return new Agent({ model: new ScriptedModel(steps), journal, onAsk: "pause", ...options });
}

/** The tool `deploy`, and where it went. */
function deploying(extra: Parameters<typeof tool>[1] = {}): {
  readonly ran: unknown[];
  readonly deploy: Tool;
} {
  const ran: unknown[] = [];
  const execute = ({ to }: { readonly to?: unknown }) => ran.push(to) && "deployed";
  return { ran, deploy: tool("deploy", { execute, ...extra }) };
}

const made = (...targets: readonly string[]) => targets.map((to) => calls("deploy", { to }, to));

/** Calls of `deploy` that a process was killed among, and agents that go on with them. */
async function killed(
  targets: readonly string[],
  where: Parameters<typeof killedAfter>[1],
  options: Partial<AgentOptions> = always(ASKS),
) {
  const { ran, deploy } = deploying();
  const whole = new MemoryJournal();
  await begin(whole, [made(...targets), says("Done.")], { tools: [deploy], ...options }).run("go");
  const journal = killedAfter(whole, where);
  ran.length = 0;
  const open = (more: Partial<AgentOptions> = {}): Agent =>
    begin(journal, [says("Done.")], { tools: [deploy], ...options, ...more });
  return { ran, journal, open };
}

/** Whether a session is replayed the same, and what is not. */
async function replayed(journal: MemoryJournal) {
  const { same, differences } = await replaySession([...journal.entries()]);
  return [same, differences.map(({ aspect, call }) => `${aspect} ${call?.id ?? ""}`)];
}

const SAME = [true, []];

test("what is observed after a kill leaves the question open, and a yes to it counts", async () => {
  const { ran, open } = await killed(["a"], "approval_request");
  const agent = open();
  await agent.observe("Ann: hello");
  const { stopReason } = await agent.run(undefined, { approvals: { a: true } });
  expect([stopReason, ran, lines(agent.getState().messages)]).toEqual([
    "completed",
    ["a"],
    ["user: go", 'calls deploy {"to":"a"}', "result a: deployed", "assistant: Done.", "user: Ann: hello"],
  ]);
});

test("a yes to one call counts though something was observed after a kill, and the other waits on", async () => {
  const { ran, open, journal } = await killed(
    ["a", "b"],
    (entry) => entry.type === "approval_request" && entry.callId === "b",
  );
  await open().observe("Ann: hello");
  const first = await open().run(undefined, { approvals: { b: true } });
  expect([first.stopReason, first.pending?.map(({ callId }) => callId), ran]).toEqual([
    "awaiting_approval",
    ["a"],
    ["b"],
  ]);
  await open().observe("Ann: hello");
  await open().run(undefined, { approvals: { a: true } });
  expect([ran, await replayed(journal)]).toEqual([["b", "a"], SAME]);
});

type RawInput = { readonly [key: string]: unknown };

/** An idempotent tool with a schema that makes something of what it is given, each time once more. */
function paying(make: (given: RawInput) => unknown): { readonly paid: unknown[]; readonly pay: Tool } {
  const parameters: StandardSchema = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (given) => ({ value: make(given as RawInput) }),
      jsonSchema: { input: () => ({ type: "object" }) },
    },
  };
  const paid: unknown[] = [];
  const execute = (input: unknown) => paid.push(input) && "paid";
  return {
    paid,
    pay: defineTool({ name: "pay", description: "Pays.", parameters, idempotent: true, execute }),
  };
}

const inCents = ({ cents }: RawInput): unknown => ({ cents: Number(cents) * 100 });

/** An approver that says one thing after the other. */
function inTurn(...answers: readonly ApprovalAnswer[]): {
  readonly shown: unknown[];
  readonly approve: Approver;
} {
  const shown: unknown[] = [];
  return { shown, approve: ({ input }) => answers[shown.push(input) - 1] ?? false };
}

test("a call that runs again is not made by its schema twice", async () => {
  const { paid, pay } = paying(inCents);
  const options: Partial<AgentOptions> = { tools: [pay], openCalls: "run" };
  const whole = new MemoryJournal();
  await begin(whole, [calls("pay", { cents: 2 }, "a"), says("Done.")], options).run("go");
  const journal = killedAfter(whole, "tool_intent");
  await begin(journal, [says("Done.")], options).run();
  // Nor where it is cut once more.
  const twice = killedAfter(journal, "run_resume");
  await begin(twice, [says("Done.")], options).run();
  expect(paid).toEqual([{ cents: 200 }, { cents: 200 }, { cents: 200 }]);
});

test("a call that runs again with what a person had given is asked about as it ran", async () => {
  const { paid, pay } = paying(inCents);
  const { shown, approve } = inTurn({ approved: true, input: { cents: 3 } }, true);
  const options: Partial<AgentOptions> = { tools: [pay], openCalls: "run", approve, ...always(ASKS) };
  const whole = new MemoryJournal();
  await begin(whole, [calls("pay", { cents: 2 }, "a"), says("Done.")], options).run("go");
  const journal = killedAfter(whole, "tool_intent");
  await begin(journal, [says("Done.")], options).run();
  expect([shown, paid]).toEqual([
    [{ cents: 200 }, { cents: 300 }],
    [{ cents: 300 }, { cents: 300 }],
  ]);
});

test("a call that runs again after a later yes runs with what that yes had given", async () => {
  const { paid, pay } = paying(inCents);
  const options: Partial<AgentOptions> = { tools: [pay], openCalls: "run", ...always(ASKS) };
  const whole = new MemoryJournal();
  await begin(whole, [calls("pay", { cents: 2 }, "a")], options).run("go");
  await begin(whole, [says("Done.")], options).run(undefined, {
    approvals: { a: { approved: true, input: { cents: 3 } } },
  });
  const journal = killedAfter(whole, "tool_intent");
  const { pending } = await begin(journal, [says("Done.")], options).run();
  expect(pending?.map(({ input }) => input)).toEqual([{ cents: 300 }]);
  await begin(journal, [says("Done.")], options).run(undefined, { approvals: { a: true } });
  expect(paid).toEqual([{ cents: 300 }, { cents: 300 }]);
});

test("a call that runs again gets a date where its schema makes one of text", async () => {
  const { paid, pay } = paying(({ at }) => ({ at: new Date(String(at)) }));
  const options: Partial<AgentOptions> = { tools: [pay], openCalls: "run" };
  const whole = new MemoryJournal();
  const at = "2026-01-02T00:00:00.000Z";
  await begin(whole, [calls("pay", { at }, "a"), says("Done.")], options).run("go");
  const entries = JSON.parse(JSON.stringify([...killedAfter(whole, "tool_intent").entries()]));
  const journal = new MemoryJournal({ sessionId: whole.sessionId, entries });
  await begin(journal, [says("Done.")], options).run();
  expect(paid).toEqual([{ at: new Date(at) }, { at: new Date(at) }]);
});

test.each(["assistant_message", "tool_intent", "tool_result"] as const)(
  "one answer may hold so many calls, also where it was cut after its %s",
  async (where) => {
    const { ran, open, journal } = await killed(["a", "b", "c", "d"], where, {
      openCalls: "run",
      maxCallsPerAnswer: 2,
      parallelToolCalls: false,
    });
    const { messages } = await open().run();
    expect(ran.filter((to) => to === "c" || to === "d")).toEqual([]);
    expect(lines(messages).slice(7, 9)).toEqual(
      ["c", "d"].map(
        (id) =>
          `error ${id}: Error: Not run: one answer may hold 2 calls. Make it in the next one if it is still needed.`,
      ),
    );
    expect(await replayed(journal)).toEqual(SAME);
  },
);

test("calls of the caller's own beyond what an answer may hold are not handed out after a kill", async () => {
  const { open } = await killed(["a", "b"], "assistant_message", { tools: [external], maxCallsPerAnswer: 1 });
  const { stopReason, pending } = await open().run();
  expect([stopReason, pending?.map(({ callId }) => callId)]).toEqual(["awaiting_external", ["a"]]);
});

test.each<readonly [string, readonly string[], Parameters<typeof killedAfter>[1], Partial<AgentOptions>]>([
  ["one call that never began", ["a"], "assistant_message", {}],
  ["two calls that never began", ["a", "b"], "assistant_message", {}],
  ["a call beside one that has its result", ["a", "b"], "tool_result", { parallelToolCalls: false }],
  ["a call beside one that had begun", ["a", "b"], "tool_intent", { parallelToolCalls: false }],
  ["a call that rules forbid by then", ["a"], "assistant_message", { ...always(NO) }],
])("a run that makes open calls itself is replayed the same: %s", async (_, targets, where, more) => {
  const { journal, open } = await killed(targets, where, { openCalls: "run", ...more });
  await open().run();
  expect(await replayed(journal)).toEqual(SAME);
});

test("a run that makes a call again that had begun is replayed the same", async () => {
  const { ran, deploy } = deploying({ idempotent: true });
  const { journal, open } = await killed(["a"], "tool_intent", { tools: [deploy], openCalls: "run" });
  await open().run();
  expect([ran, await replayed(journal)]).toEqual([["a", "a"], SAME]);
});

test.each<readonly [string, readonly string[], Partial<AgentOptions>]>([
  ["forbidden by a rule", ["a", "b"], always(NO)],
  ["refused by a person", ["a", "b"], { approve: () => false }],
  ["stopped by a person", ["a"], STOPS],
  ["stopped by a person, with another one behind it", ["a", "b"], STOPS],
  ["waiting", ["a", "b"], {}],
  ["allowed by a rule", ["a", "b"], always({ action: "allow" })],
  ["allowed by a person", ["a", "b"], { approve: () => true }],
])("a late judgement of a call of the caller's own is replayed the same: %s", async (_, targets, then) => {
  const { journal, open } = await killed(targets, "assistant_message", {
    tools: [external],
    ...always(ASKS),
  });
  await open(then).run();
  expect(await replayed(journal)).toEqual(SAME);
});

test("a no on record is replayed the same, however often the run is cut", async () => {
  const { journal: once, open } = await killed(["a"], "permission_decision", {
    ...always(ASKS),
    approve: () => false,
  });
  await open().run();
  const twice = killedAfter(once, "run_resume");
  await open({ journal: twice }).run();
  let resumed = 0;
  const thrice = killedAfter(twice, ({ type }) => type === "run_resume" && ++resumed === 2);
  const { messages } = await open({ journal: thrice }).run();
  expect(lines(messages)[2]).toBe("error a: Error: Tool call was not approved: the user refused it");
  expect([await replayed(once), await replayed(twice), await replayed(thrice)]).toEqual([SAME, SAME, SAME]);
});

test("a stop that is given to a call outside of a run between a kill and going on ends nothing", async () => {
  const { ran, open } = await killed(["a"], "approval_request");
  await open(STOPS).callTool("deploy", { to: "b" });
  const { stopReason } = await open().run(undefined, { approvals: { a: true } });
  expect([stopReason, ran]).toEqual(["completed", ["a"]]);
});

test("a stop that is given to a call outside of a run while that is at work ends nothing", async () => {
  const { ran, deploy } = deploying();
  const reply = Promise.withResolvers<ApprovalAnswer>();
  const asked = Promise.withResolvers<undefined>();
  const agent = begin(new MemoryJournal(), [made("a"), says("Done.")], { tools: [deploy], ...always(ASKS) });
  const calling = agent.callTool(
    "deploy",
    { to: "b" },
    {
      approve: () => {
        asked.resolve(undefined);
        return reply.promise;
      },
    },
  );
  await asked.promise;
  const { stopReason } = await agent.run("go", {
    approve: async () => {
      reply.resolve({ approved: false, stop: true });
      await calling;
      return true;
    },
  });
  expect([stopReason, ran]).toEqual(["completed", ["a"]]);
});

test("a yes to a question about another tool than the call's does not run it, and it is asked about anew", async () => {
  const { ran, open, journal } = await killed(["a"], "run_end");
  const other = new MemoryJournal({ sessionId: journal.sessionId, entries: [...journal.entries()] });
  other.append({
    type: "approval_request",
    callId: "a",
    name: "read",
    input: { to: "a" },
    reason: "it is live",
    code: "no_rule",
    place: "/x",
  });
  const first = await open({ journal: other }).run(undefined, { approvals: { a: true } });
  expect([first.stopReason, ran]).toEqual(["awaiting_approval", []]);
  const anew = [...other.entries()].findLast((entry) => entry.type === "approval_request");
  expect(anew).toMatchObject({ name: "deploy", input: { to: "a" } });
  const second = await open({ journal: other }).run(undefined, { approvals: { a: true } });
  expect([second.stopReason, ran]).toEqual(["completed", ["a"]]);
});
