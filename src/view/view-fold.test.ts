import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { AgentEvent, JournalEntry } from "../core/agent/entries.ts";
import { MemoryJournal } from "../core/agent/journal.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import type { Model, StreamPart } from "../core/model/model.ts";
import { defineTool, type Tool } from "../core/tool/tool.ts";
import { calls, type ScriptAnswer, says, thinks } from "../testing/script.ts";
import { ScriptedModel } from "../testing/scripted-model.ts";
import { createBatchTool } from "../tools/batch-tool.ts";
import { createTodoTool } from "../tools/todo-tool.ts";
import type { SessionView, ViewItem } from "./view.ts";
import { type HostView, ViewFold } from "./view-fold.ts";

const HOST: HostView = {
  state: "idle",
  queue: [],
  queueHeld: false,
  steering: [],
  questions: [],
  model: "scripted/scripted",
  effort: undefined,
  mode: "default",
  windowTokens: undefined,
  endedJobs: new Map(),
};

const echo = defineTool({
  name: "echo",
  description: "Says it again.",
  parameters: { type: "object", properties: { text: { type: "string" }, fail: { type: "boolean" } } },
  execute: ({ text = "", fail = false }, { update }) => {
    update(`working on ${text}`);
    if (fail) throw new Error("no");
    return { content: text, metadata: { diff: `@@ -1 +1 @@\n-${text}\n+new` } };
  },
});

const task: Tool = defineTool({
  name: "task",
  description: "Hands it on.",
  parameters: { type: "object", properties: { prompt: { type: "string" } } },
  execute: async ({ prompt = "do it" }, { runAgent }) =>
    (await runAgent({ agent: "helper", prompt, tools: [echo, task] })).text,
});

/** What one answer of the model is made of. */
const piece = fc.oneof(
  fc.string({ minLength: 1, maxLength: 8 }).map((text) => says(text)),
  fc.string({ minLength: 1, maxLength: 8 }).map((text) => thinks(text)),
  fc.record({ text: fc.string({ maxLength: 4 }), fail: fc.boolean() }).map((input) => calls("echo", input)),
  fc.constant(calls("todo", { todos: [{ content: "a", status: "pending" }] })),
  fc.constant(calls("nothing", {})),
  fc.constant(calls("task", { prompt: "help" })),
  fc
    .array(fc.record({ text: fc.string({ maxLength: 3 }) }), { minLength: 1, maxLength: 3 })
    .map((inputs) => calls("batch", { calls: inputs.map((input) => ({ tool: "echo", input })) })),
);
const answers = fc.array(fc.array(piece, { minLength: 1, maxLength: 4 }), { maxLength: 6 });
/** Parts that an attempt streams before it fails. */
const voided = fc.array(
  fc.constantFrom<StreamPart>(
    { type: "text_delta", index: 0, text: "lost" },
    { type: "thinking_delta", index: 1, text: "lost" },
    { type: "tool_call_start", index: 2, id: "lost_1", name: "echo" },
    { type: "tool_call_delta", index: 2, json: "{" },
  ),
  { maxLength: 4 },
);

/** A model whose attempts fail now and then, after some parts. */
function failing(model: ScriptedModel, lost: readonly (readonly StreamPart[])[]): Model {
  let request = 0;
  return {
    provider: model.provider,
    id: model.id,
    async *stream(...args) {
      const parts = lost[request++ % Math.max(1, lost.length)];
      if (parts !== undefined && parts.length > 0) {
        yield* parts;
        const error = new NanoAgentError("provider_error", "overloaded");
        yield { type: "retry", attempt: 2, delayMs: 0, error };
      }
      yield* model.stream(...args);
    },
  };
}

interface Recording {
  readonly events: readonly AgentEvent[];
  readonly entries: readonly JournalEntry[];
}

async function played(
  script: readonly ScriptAnswer[],
  lost: readonly (readonly StreamPart[])[],
): Promise<Recording> {
  // Subagents take answers of the same script; when it is used up, everybody has said enough.
  let at = 0;
  const model = new ScriptedModel(() => script[at++] ?? says("Enough."));
  const journal = new MemoryJournal();
  const tools = [echo, task, createTodoTool(), createBatchTool()];
  const agent = new Agent({ model: failing(model, lost), tools, journal, loopGuard: false });
  const events: AgentEvent[] = [];
  for (const input of ["first", "second"]) await agent.run(input, { onEvent: (event) => events.push(event) });
  return { events, entries: [...journal.entries()] };
}

function folded(events: readonly AgentEvent[]): SessionView {
  const fold = new ViewFold(HOST);
  for (const event of events) fold.apply(event);
  return fold.view;
}

/** A view without what only the moment knows. */
function lasting({ items, ...view }: SessionView): object {
  return { ...view, items: items.filter(({ isVoid }) => isVoid !== true).map(settled) };
}

function settled(item: ViewItem): object {
  const { version: _version, isVoid: _void, time: _time, id, ...shown } = item;
  // Answers are shown before they have an entry: their ids are places.
  const named = item.type === "answer" || item.type === "thinking" ? {} : { id };
  if (item.type !== "tool" || item.agent === undefined) return { ...named, ...shown };
  const { items, ...agent } = item.agent;
  return {
    ...named,
    ...shown,
    agent: { ...agent, items: items.filter(({ isVoid }) => isVoid !== true).map(settled) },
  };
}

test("the picture of a session that is resumed is the one it had", async () => {
  await fc.assert(
    fc.asyncProperty(answers, fc.array(voided, { maxLength: 3 }), async (script, lost) => {
      const { events, entries } = await played(script, lost);
      expect(lasting(folded(entries))).toEqual(lasting(folded(events)));
    }),
    { numRuns: 60 },
  );
});

/** Runs in which some of what is streamed is not heard. */
const heard = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 });
function eventsHeard({ events }: Recording, hears: readonly boolean[], lost: RegExp): readonly AgentEvent[] {
  return events.filter((event, at) => !lost.test(JSON.stringify(event)) || hears[at % hears.length] === true);
}

// A text that was shown keeps its place: what comes late stands behind it.
test("who missed texts and some starts of calls sees the answers in the same order in the end", async () => {
  await fc.assert(
    fc.asyncProperty(answers, fc.array(voided, { maxLength: 3 }), heard, async (script, lost, hears) => {
      const recording = await played(script, lost);
      const silent = eventsHeard(recording, [false], /_delta/);
      const some = eventsHeard({ ...recording, events: silent }, hears, /_call_start/);
      expect(lasting(folded(some))).toEqual(lasting(folded(recording.events)));
    }),
    { numRuns: 60 },
  );
});

test("a text that was shown stays the item it was, whatever else was missed", async () => {
  await fc.assert(
    fc.asyncProperty(answers, fc.array(voided, { maxLength: 3 }), heard, async (script, lost, hears) => {
      const fold = new ViewFold(HOST);
      const shown = new Map<number, string>();
      for (const event of eventsHeard(await played(script, lost), hears, /_delta|_call_start/)) {
        fold.apply(event);
        for (const [at, item] of fold.view.items.entries())
          if (item.type === "answer" || item.type === "thinking") {
            expect(item.id).toBe(shown.get(at) ?? item.id);
            shown.set(at, item.id);
          }
      }
      const ids = fold.view.items.map(({ id }) => id);
      expect([...shown.keys()].map((at) => ids[at])).toEqual([...shown.values()]);
    }),
    { numRuns: 60 },
  );
});

test("reasoning that comes only with the whole answer does not move the text that was streamed", () => {
  const fold = new ViewFold(HOST);
  fold.apply({ type: "text_delta", index: 1, text: "It is " });
  const [streamed] = fold.view.items;
  fold.apply({
    id: "e1",
    parent: null,
    time: 1,
    type: "assistant_message",
    message: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm." },
        { type: "text", text: "It is done." },
      ],
    },
    model: "scripted/scripted",
    usage: { inputTokens: 1, outputTokens: 1 },
    durationMs: 1,
    finishReason: { unified: "stop", raw: "stop" },
  });
  expect(fold.view.items).toMatchObject([
    { id: streamed?.id, type: "answer", text: "It is done." },
    { type: "thinking", text: "Hm." },
  ]);
});

test("items are only appended, and one that changes is a new object with a higher version", async () => {
  await fc.assert(
    fc.asyncProperty(answers, fc.array(voided, { maxLength: 3 }), async (script, lost) => {
      const { events } = await played(script, lost);
      const fold = new ViewFold(HOST);
      let before: readonly ViewItem[] = [];
      for (const event of events) {
        fold.apply(event);
        const { items } = fold.take();
        const now = [...fold.view.items];
        const changed = now.flatMap((item, at) => (item === before[at] ? [] : [at]));
        expect([now.length >= before.length, changed]).toEqual([true, items]);
        for (const at of changed) expect(now[at]?.version).toBeGreaterThan(before[at]?.version ?? 0);
        before = now;
      }
    }),
    { numRuns: 30 },
  );
});

/** The most accesses to the list of items that one event of a conversation makes. */
async function mostAccesses(runs: number): Promise<number> {
  const script = [
    [
      thinks("hm"),
      says("Let me look."),
      calls("echo", { text: "a" }),
      calls("batch", { calls: [{ tool: "echo", input: {} }] }),
    ],
    [calls("task", { prompt: "help" })],
    [says("Helped.")],
    [says("Done.")],
  ];
  let at = 0;
  const model = new ScriptedModel(() => script[at++ % script.length] ?? []);
  const agent = new Agent({ model, tools: [echo, task, createBatchTool()], loopGuard: false });
  let accesses = 0;
  const counted = new Proxy<ViewItem[]>([], {
    get: (target, key, receiver) => {
      accesses++;
      return Reflect.get(target, key, receiver) as unknown;
    },
    set: (target, key, value, receiver) => {
      accesses++;
      return Reflect.set(target, key, value, receiver);
    },
    ownKeys: (target) => {
      accesses += target.length;
      return Reflect.ownKeys(target);
    },
  });
  const fold = new ViewFold(HOST, counted);
  let most = 0;
  const onEvent = (event: AgentEvent): void => {
    accesses = 0;
    fold.apply(event);
    void fold.view;
    fold.take();
    most = Math.max(most, accesses);
  };
  for (let run = 0; run < runs; run++) await agent.run("again", { onEvent });
  return most;
}

test("the work of an event does not grow with the conversation", async () => {
  const [short, long] = [await mostAccesses(2), await mostAccesses(60)];
  expect(long).toBe(short);
});

test("a command of the user is shown once, though the model is told of it in a message", () => {
  const data = { command: "ls", output: "a\n", exitCode: 0, shared: true };
  const text = "The user ran a command, which ended with exit code 0.\n$ ls\nthis output:\na";
  const base = { parent: null, time: 1 };
  const view = folded([
    { ...base, id: "e1", type: "note", kind: "shell", data },
    {
      ...base,
      id: "e2",
      type: "user_message",
      source: "observed",
      message: { role: "user", content: [{ type: "text", text }] },
    },
  ]);
  expect(view.items.map(({ type }) => type)).toEqual(["shell"]);
});

test("a call that waits for an answer is asking, also when the run has ended for it", () => {
  const base = { parent: null, time: 1, callId: "c1", name: "bash", input: { command: "make" } };
  const view = folded([
    { ...base, id: "e1", type: "approval_request", reason: "No rule allows it." },
    { id: "e2", parent: "e1", time: 2, type: "run_end", stopReason: "awaiting_approval", iterations: 1 },
  ]);
  expect(view.items[0]).toMatchObject({ type: "tool", state: "asking", title: "make" });
});

test("of parallel calls, one that was answered no longer waits for an answer", () => {
  const base = { parent: null, time: 1, reason: "No rule allows it." } as const;
  const asked = ["c1", "c2"].map((callId) => ({ callId, name: "bash", input: { command: callId } }));
  const questions = asked.map(({ callId, name, input }) => ({
    id: `q_${callId}`,
    type: "permission" as const,
    time: 1,
    callId,
    tool: name,
    input,
    reason: base.reason,
    choices: [],
    parts: [],
  }));
  const fold = new ViewFold(HOST);
  fold.apply({ ...base, id: "e0", type: "run_start", sessionId: "s", model: "scripted/scripted", tools: [] });
  for (const [at, call] of asked.entries())
    fold.apply({ ...base, ...call, id: `e${at + 1}`, type: "approval_request" });
  const states = [questions, questions.slice(1), []].map((open) => {
    fold.host({ ...HOST, questions: open });
    return fold.view.items.map((item) => "state" in item && item.state);
  });
  expect(states).toEqual([
    ["asking", "asking"],
    ["writing", "asking"],
    ["writing", "writing"],
  ]);
});

test("a run that goes on has what it spent, its requests and its time behind it, the wait left out", () => {
  const base = { parent: null, sessionId: "s", model: "scripted/scripted", tools: [] } as const;
  const usage = { inputTokens: 1, outputTokens: 10 };
  const answer = (id: string, time: number): JournalEntry => ({
    id,
    parent: null,
    time,
    type: "assistant_message",
    message: { role: "assistant", content: [{ type: "text", text: "hm" }] },
    model: "scripted/scripted",
    usage,
    costUsd: 0.5,
    durationMs: 1,
    finishReason: { unified: "stop", raw: "stop" },
  });
  const end = { parent: null, type: "run_end", iterations: 1 } as const;
  const paused: readonly JournalEntry[] = [
    { ...base, id: "e1", time: 1_000, type: "run_start" },
    answer("e2", 1_500),
    { ...end, id: "e3", time: 2_000, stopReason: "awaiting_approval" },
  ];
  const cut = paused.slice(0, 2);
  const resumed: JournalEntry = { ...base, id: "e4", time: 60_000, type: "run_resume" };
  const done: JournalEntry = { ...end, id: "e6", time: 61_000, stopReason: "completed" };
  const facts = [paused, cut].map((before) => {
    const fold = new ViewFold(HOST);
    for (const entry of [...before, resumed]) fold.apply(entry);
    const { run } = fold.view;
    for (const entry of [answer("e5", 60_500), done]) fold.apply(entry);
    return { run, end: fold.view.items.at(-1) };
  });
  expect(facts).toMatchObject([
    { run: { startedAt: 59_000, outputTokens: 10 }, end: { durationMs: 2_000, costUsd: 1 } },
    { run: { startedAt: 59_500, outputTokens: 10 }, end: { durationMs: 1_500, costUsd: 1 } },
  ]);
});

test("a background command is a job until its end is told", () => {
  const base = { parent: null, time: 1, durationMs: 1, status: "ok" } as const;
  const result = { type: "tool_result", tool_use_id: "c1", content: "" } as const;
  const started = [
    {
      id: "e1",
      parent: null,
      time: 1,
      type: "tool_intent",
      callId: "c1",
      name: "bash",
      input: { command: "serve" },
    },
    {
      ...base,
      id: "e2",
      type: "tool_result",
      callId: "c1",
      name: "bash",
      result,
      metadata: { jobId: "job_1", pid: 1 },
    },
  ] as const;
  const ended = {
    ...base,
    id: "e3",
    type: "tool_result",
    callId: "c2",
    name: "job",
    result,
    metadata: { jobId: "job_1", exitCode: 0, processes: [] },
  } as const;
  const byItself = new ViewFold({ ...HOST, endedJobs: new Map([["job_1", null]]) });
  for (const event of started) byItself.apply(event);
  expect([folded(started).jobs, folded([...started, ended]).jobs, byItself.view.jobs]).toEqual([
    [{ id: "job_1", command: "serve", state: "running" }],
    [{ id: "job_1", command: "serve", state: "ended", exitCode: 0 }],
    [{ id: "job_1", command: "serve", state: "ended", exitCode: null }],
  ]);
});
