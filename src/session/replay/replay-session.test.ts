import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../../core/agent/agent.ts";
import type { JournalEntry } from "../../core/agent/entry.ts";
import type { Approvals } from "../../core/agent/gate.ts";
import { MemoryJournal } from "../../core/agent/memory-journal.ts";
import type { AgentOptions } from "../../core/agent/options.ts";
import { SessionState } from "../../core/agent/session-state.ts";
import { NanoAgentError } from "../../core/base/errors.ts";
import type { Message } from "../../core/message/message.ts";
import type { Model, StreamPart } from "../../core/model/model.ts";
import { defineTool } from "../../core/tool/define-tool.ts";
import type { Tool } from "../../core/tool/tool.ts";
import { replaySession } from "./replay-session.ts";
import { replayWithModel } from "./replay-with-model.ts";

/** What a random model does next. */
type Turn =
  | { readonly type: "text"; readonly text: string; readonly reason: "stop" | "length" | "refusal" | "pause" }
  | {
      readonly type: "calls";
      readonly calls: readonly { readonly name: string; readonly input: object; readonly id: string }[];
    }
  | { readonly type: "fails" };

const toolName = fc.constantFrom(
  "echo",
  "throws",
  "denied",
  "asked",
  "stopper",
  "external",
  "many",
  "slow",
  "finisher",
  "aborter",
  "steers",
  "nowhere",
  "finish",
);
const turn: fc.Arbitrary<Turn> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("text" as const),
      text: fc.string({ maxLength: 8 }),
      reason: fc.constantFrom<"stop" | "length" | "refusal" | "pause">(
        "stop",
        "stop",
        "length",
        "refusal",
        "pause",
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("calls" as const),
      calls: fc.array(
        fc.record({
          name: toolName,
          input: fc.constantFrom({}, { n: 1 }, { n: "bad" }, { n: 2, x: "y" }),
          id: fc.constantFrom("", "a", "b", "c"),
        }),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: "fails" as const }) },
);

const life = fc.record({
  turns: fc.array(turn, { maxLength: 7 }),
  maxIterations: fc.constantFrom(1, 3, 20),
  onMaxIterations: fc.constantFrom("summarize" as const, "last" as const),
  withSchema: fc.boolean(),
  asks: fc.boolean(),
  cutAt: fc.option(fc.nat(30), { nil: undefined, freq: 4 }),
  tokens: fc.option(fc.constantFrom(1, 40), { nil: undefined, freq: 5 }),
  image: fc.boolean(),
  observed: fc.boolean(),
  pauses: fc.boolean(),
  answers: fc.constantFrom("yes", "no", "later", "message"),
});

test("the replay of an unmodified journal finds no difference, whatever happened in it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 3 }), async (lives) => {
      const entries = await liveThrough(lives);
      const report = await replaySession(entries);
      expect(report.differences).toEqual([]);
      expect(report.same).toBe(true);
    }),
    { numRuns: 300 },
  );
});

type Life = typeof life extends fc.Arbitrary<infer L> ? L : never;

/** Runs real agents over one journal and returns what it holds, as a file would give it back. */
async function liveThrough(lives: readonly Life[]): Promise<readonly JournalEntry[]> {
  let entries: readonly JournalEntry[] = [];
  for (const each of lives) {
    const journal = new MemoryJournal({ sessionId: "s" });
    // Like a session that is opened again.
    Object.defineProperty(journal, "entries", { value: () => all });
    const all = [...entries];
    const cutAt = each.cutAt ?? Number.POSITIVE_INFINITY;
    let written = 0;
    const append = journal.append.bind(journal);
    Object.defineProperty(journal, "append", {
      value: (entry: Parameters<MemoryJournal["append"]>[0]) => {
        if (written++ >= cutAt) throw new Error("the machine stopped");
        const stored = append(entry);
        all.push(stored);
        return stored;
      },
    });
    const controller = new AbortController();
    const box: { agent?: Agent } = {};
    const agent = new Agent({ ...agentOptions(each, controller, box), journal });
    box.agent = agent;
    const pending = agent.getState().messages.length === 0 ? [] : openCalls(all);
    const approvals = each.answers === "message" ? {} : answersTo(all, each.answers);
    const brings = Object.keys(approvals).length > 0;
    try {
      if (each.observed) await agent.observe("somebody else speaks");
      await agent.run(brings ? undefined : input(each, pending), {
        approvals,
        onAsk: each.pauses ? "pause" : "deny",
        signal: controller.signal,
        ...(each.withSchema ? { schema: { type: "object", properties: { n: { type: "number" } } } } : {}),
        ...(each.asks
          ? {
              approve: ({ name }) =>
                name === "stopper" ? { approved: false, stop: true, reason: "no more" } : name === "asked",
            }
          : {}),
      });
    } catch {
      // The machine stopped, or the calls of the run before wait for another answer: what is recorded counts.
      controller.abort();
    }
    entries = JSON.parse(JSON.stringify(all)) as JournalEntry[];
  }
  return entries;
}

function answersTo(entries: readonly JournalEntry[], answer: "yes" | "no" | "later"): Approvals {
  const state = new SessionState();
  for (const entry of entries) state.apply(entry);
  const given = { yes: true, no: { approved: false, reason: "rather not" }, later: "later" } as const;
  return Object.fromEntries([...state.approvals.keys()].map((id) => [id, given[answer]]));
}

function openCalls(entries: readonly JournalEntry[]): readonly string[] {
  const end = entries.at(-1);
  if (end?.type !== "run_end" || !end.stopReason.startsWith("awaiting")) return [];
  const answer = entries.findLast((entry) => entry.type === "assistant_message");
  const done = new Set(entries.flatMap((entry) => (entry.type === "tool_result" ? [entry.callId] : [])));
  if (answer?.type !== "assistant_message") return [];
  return answer.message.content.flatMap((block) =>
    block.type === "tool_use" && !done.has(block.id) ? [block.id] : [],
  );
}

function input({ image }: Life, pending: readonly string[]): Message {
  const results = pending.slice(0, image ? 1 : pending.length);
  return {
    role: "user",
    content: [
      ...results.map((id) => ({ type: "tool_result", tool_use_id: id, content: "from outside" }) as const),
      ...(image && results.length === 0
        ? [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } } as const]
        : []),
      ...(results.length > 0 && image ? [] : [{ type: "text", text: "go" } as const]),
    ],
  };
}

function agentOptions(each: Life, controller: AbortController, box: { agent?: Agent }): AgentOptions {
  const parameters = { type: "object", properties: { n: { type: "number" } } } as const;
  const tool = (name: string, execute?: Tool["execute"]): Tool =>
    defineTool({
      name,
      description: name,
      parameters,
      ...(execute === undefined ? {} : { execute: execute as () => unknown }),
    });
  return {
    model: randomModel(each.turns, controller),
    maxIterations: each.maxIterations,
    onMaxIterations: each.onMaxIterations,
    ...(each.tokens === undefined ? {} : { budget: { tokens: each.tokens } }),
    permission: {
      check: ({ name }) =>
        name === "denied"
          ? { action: "deny", reason: "a rule says so", rule: "denied" }
          : name === "asked" || name === "stopper"
            ? { action: "ask", reason: "it needs a yes", suggestion: "asked(*)" }
            : { action: "allow" },
    },
    tools: [
      tool("echo", (value: unknown) => JSON.stringify(value)),
      tool("throws", () => {
        throw new Error("broken");
      }),
      tool("denied", () => "never"),
      tool("asked", () => "was asked"),
      tool("stopper", () => "never"),
      tool("external"),
      tool("slow", async () => {
        await Promise.resolve();
        return "";
      }),
      tool("many", async (value: never, context) => {
        const inner = await Promise.all(
          ["echo", "denied", "throws", "asked", "nowhere"].map((name) => context.callTool(name, value)),
        );
        return inner.map(({ content }) => content).join("\n");
      }),
      tool("finisher", () => ({ content: "finished", finish: { text: "finished" } })),
      tool("aborter", () => {
        controller.abort();
        return "aborted itself";
      }),
      tool("steers", () => {
        box.agent?.steer("another thing");
        return "steered";
      }),
    ],
  };
}

function randomModel(turns: readonly Turn[], controller: AbortController): Model {
  let at = 0;
  async function* stream(): AsyncGenerator<StreamPart, void, undefined> {
    const next = turns[at++];
    if (next === undefined || next.type === "fails") {
      if (at % 3 === 0) {
        yield { type: "text_delta", index: 0, text: "as far as it" };
        controller.abort();
      }
      throw new NanoAgentError("rate_limit", "too busy");
    }
    if (next.type === "text") {
      if (next.text !== "") yield { type: "text_delta", index: 0, text: next.text };
    } else {
      for (const [index, { id, name, input: given }] of next.calls.entries())
        yield { type: "block", index, block: { type: "tool_use", id, name, input: { ...given } } };
    }
    const unified = next.type === "calls" ? "tool_use" : next.reason;
    yield {
      type: "finish",
      finishReason: { unified, raw: unified },
      usage: { inputTokens: 10, outputTokens: 5 },
    };
  }
  return { provider: "random", id: "model", stream };
}

/** A small session: two runs, one with a call that is allowed by a person and one that a rule refuses. */
async function smallSession(): Promise<readonly JournalEntry[]> {
  return liveThrough([
    {
      turns: [
        {
          type: "calls",
          calls: [
            { name: "echo", input: { n: 1 }, id: "a" },
            { name: "denied", input: {}, id: "b" },
          ],
        },
        { type: "text", text: "one", reason: "stop" },
      ],
      ...CALM,
    },
    {
      turns: [
        { type: "calls", calls: [{ name: "asked", input: {}, id: "c" }] },
        { type: "text", text: "two", reason: "stop" },
      ],
      ...CALM,
    },
  ]);
}

const CALM = {
  maxIterations: 20,
  onMaxIterations: "last",
  withSchema: false,
  asks: true,
  cutAt: undefined,
  tokens: undefined,
  image: false,
  observed: false,
  pauses: false,
  answers: "message",
} as const;

function changed(
  entries: readonly JournalEntry[],
  change: (entry: JournalEntry) => JournalEntry,
): readonly JournalEntry[] {
  return entries.map(change);
}

test("a replay says what it did", async () => {
  expect(await replaySession(await smallSession())).toEqual({
    same: true,
    differences: [],
    runs: 2,
    requests: 4,
    calls: 3,
    callsRun: 0,
    notReplayed: {},
  });
});

test("a way to end that the loop does not come to is found in its run, and in no other", async () => {
  const entries = changed(await smallSession(), (entry) =>
    entry.type === "run_end" ? { ...entry, stopReason: "finish_tool" } : entry,
  );
  const { differences } = await replaySession(entries);
  expect(
    differences.map(({ run, step, aspect, recorded, replayed }) => ({
      run,
      step,
      aspect,
      recorded,
      replayed,
    })),
  ).toEqual([
    { run: 1, step: 2, aspect: "stop_reason", recorded: '"finish_tool"', replayed: '"completed"' },
    { run: 2, step: 4, aspect: "stop_reason", recorded: '"finish_tool"', replayed: '"completed"' },
  ]);
});

test("a call whose record was made up is found, in its result and in the request that follows", async () => {
  const entries = changed(await smallSession(), (entry) => {
    if (entry.type !== "tool_result" || entry.callId !== "b") return entry;
    return { ...entry, status: "ok", result: { ...entry.result, content: "it ran" } };
  });
  expect((await replaySession(entries)).differences).toEqual([
    {
      run: 1,
      step: 2,
      aspect: "request",
      path: "messages[2].content[1].content",
      recorded: '"it ran"',
      replayed: '"Error: Tool call was not approved: a rule says so"',
    },
    {
      run: 1,
      step: 1,
      aspect: "tool_result",
      call: { id: "b", name: "denied" },
      path: "status",
      recorded: '"ok"',
      replayed: '"denied"',
    },
  ]);
});

test("a lost answer leaves calls that nobody made", async () => {
  const all = await smallSession();
  const lost = all.findIndex(({ type }) => type === "assistant_message");
  const { differences } = await replaySession(all.toSpliced(lost, 1));
  expect(differences.map(({ run, aspect, call }) => [run, aspect, call?.id])).toEqual([
    [1, "missing_call", "b"],
    [1, "missing_call", "a"],
  ]);
});

test("arguments are checked again by the schemas that are given", async () => {
  const strict = defineTool({
    name: "echo",
    description: "echo",
    parameters: { type: "object", properties: { n: { type: "string" } } },
    execute: () => "never asked",
  });
  const { differences } = await replaySession(await smallSession(), { tools: [strict] });
  expect(differences.map(({ aspect, path, call }) => [aspect, path, call?.id])).toEqual([
    ["request", "messages[2].content[0].content", undefined],
    ["tool_input", "input", "a"],
    ["tool_result", "status", "a"],
  ]);
});

test("calls that are run again are compared, and the run goes on with what was recorded", async () => {
  const report = await replaySession(await smallSession(), {
    runTool: async ({ name }) => (name === "echo" ? { content: "changed" } : undefined),
  });
  expect([report.calls, report.callsRun, report.differences]).toEqual([
    3,
    1,
    [
      {
        run: 1,
        step: 1,
        aspect: "tool_result",
        call: { id: "a", name: "echo" },
        path: "content",
        recorded: JSON.stringify('{"n":1}'),
        replayed: '"changed"',
      },
    ],
  ]);
});

test("from a step on, what stands before it is not looked at", async () => {
  const entries = changed(await smallSession(), (entry) =>
    entry.type === "run_end" ? { ...entry, stopReason: "finish_tool" } : entry,
  );
  const { differences, runs } = await replaySession(entries, { from: 3 });
  expect([runs, differences.map(({ run }) => run)]).toEqual([1, [2]]);
  await expect(replaySession(entries, { from: 5 })).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining("Step 5: the session has the steps 1 to 4."),
  });
});

test("entries of other kinds are given to the run where they were recorded", async () => {
  const all = await smallSession();
  const at = all.findIndex(({ type }) => type === "tool_result") + 2;
  const other = {
    id: "x",
    parent: null,
    time: 0,
    type: "history",
    messages: [{ role: "user", content: [{ type: "text", text: "shortened" }] }],
  } as const;
  expect(await replaySession(all.toSpliced(at, 0, other))).toMatchObject({
    same: true,
    notReplayed: { "history in a run": 1 },
  });
});

test("a compaction in the middle of a run is made again where it was made", async () => {
  const all = await smallSession();
  const at = all.findIndex(({ type }) => type === "tool_result") + 2;
  const compaction = {
    id: "x",
    parent: null,
    time: 0,
    type: "compaction",
    reason: "threshold",
    method: "summary",
    messages: [{ role: "user", content: [{ type: "text", text: "It began." }] }],
    kept: 2,
    tokensBefore: 9,
    tokensAfter: 3,
  } as const;
  const usage = {
    id: "y",
    parent: null,
    time: 0,
    type: "model_usage",
    purpose: "compaction",
    model: "a/b",
    usage: { inputTokens: 1, outputTokens: 1 },
    durationMs: 1,
  } as const;
  expect(await replaySession(all.toSpliced(at, 0, usage, compaction))).toMatchObject({
    same: true,
    differences: [],
    requests: 4,
  });
});

test("another model is asked from a step on, with recorded results for the same calls", async () => {
  const entries = await smallSession();
  const asked: string[] = [];
  const model: Model = {
    provider: "other",
    id: "model",
    stream: async function* (request) {
      asked.push(
        JSON.stringify(
          request.messages.at(-1)?.content.map((block) => ("content" in block ? block.content : block.type)),
        ),
      );
      const call = {
        type: "tool_use",
        id: "z",
        name: asked.length === 1 ? "asked" : "echo",
        input: asked.length === 1 ? {} : { n: 9 },
      } as const;
      if (asked.length < 3) yield { type: "block", index: 0, block: call };
      else yield { type: "text_delta", index: 0, text: "three" };
      yield {
        type: "finish",
        finishReason: { unified: asked.length < 3 ? "tool_use" : "stop", raw: "" },
        usage: { inputTokens: 1, outputTokens: 1 },
      };
    },
  };
  const tools = ["asked", "echo"].map((name) =>
    defineTool({ name, description: name, parameters: { type: "object" }, execute: () => "live" }),
  );
  const report = await replayWithModel(entries, { model, from: 3, tools });
  expect(asked).toEqual(['["text"]', '["was asked"]', expect.stringContaining("This is a replay")]);
  expect(report).toMatchObject({
    same: false,
    requests: 3,
    calls: 2,
    notReplayed: { "calls that are not in the record": 1 },
    differences: [
      { run: 2, step: 4, aspect: "answer", path: "calls[0]", recorded: "nothing" },
      { run: 2, step: 5, aspect: "answer" },
    ],
  });
});
