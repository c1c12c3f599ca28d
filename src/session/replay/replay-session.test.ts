import { expect, test } from "vitest";
import { liveThrough } from "../../../test/session/random-lives.ts";
import type { JournalEntry } from "../../core/agent/entries.ts";
import { defineTool } from "../../core/tool/tool.ts";
import { recordedRuns } from "./recorded-run.ts";
import { replaySession } from "./replay-session.ts";

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

test("a part that goes on has the number of its run", async () => {
  const entries = await smallSession();
  const at = entries.findLastIndex(({ type }) => type === "run_start");
  const start = entries[at];
  if (start?.type !== "run_start") throw new Error("The session has no second run.");
  const resumed = { ...start, type: "run_resume", id: "resumed" } as const;
  const all = entries.toSpliced(at, 1, { ...start, tools: [] }, resumed);
  expect(recordedRuns(all).map(({ number }) => number)).toEqual([1, 2, 2]);
});

test("a run of a pattern with phases is named and taken from the record", async () => {
  const entries = await smallSession();
  const scoped = entries.map((entry) =>
    entry.type === "assistant_message" ? { ...entry, scope: "planning/1" } : entry,
  );
  const { same, requests, notReplayed } = await replaySession(scoped);
  expect([same, requests, notReplayed["runs of patterns with phases"]]).toEqual([true, 0, 2]);
});
