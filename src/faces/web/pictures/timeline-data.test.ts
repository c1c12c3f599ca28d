import fc from "fast-check";
import { expect, test } from "vitest";
import { countReads, JournalMaker } from "../../../../test/web/made-journal.ts";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { addSpending, isSpending, NO_SPENDING } from "../../../core/agent/state.ts";
import { activeTimeAt, axisPositionOf, drawnBars } from "./time-axis.ts";
import { runTimeline, type Timeline } from "./timeline-data.ts";

const journals = fc
  .record({ seed: fc.integer({ min: 0, max: 2 ** 31 }), size: fc.integer({ min: 0, max: 300 }) })
  .map(({ seed, size }) => new JournalMaker(seed).make(size));

function overlaps({ lanes }: Timeline): readonly unknown[] {
  return lanes.flatMap(({ bars }) =>
    bars.flatMap((bar, at) => {
      const before = bars[at - 1];
      return bar.to < bar.from || (before !== undefined && bar.from < before.to) ? [[before, bar]] : [];
    }),
  );
}

test("bars of a row are in order and never overlap", () => {
  fc.assert(
    fc.property(journals, fc.boolean(), (entries, isLive) => {
      const last = entries.at(-1)?.time ?? 0;
      expect(overlaps(runTimeline(entries, isLive ? last + 5_000 : undefined))).toEqual([]);
    }),
  );
});

test("tokens and cost of the requests add up to those of the journal", () => {
  fc.assert(
    fc.property(journals, (entries) => {
      const { requests, total } = runTimeline(entries);
      const journal = entries.filter(isSpending).reduce(addSpending, NO_SPENDING);
      const sum = (field: "inputTokens" | "cacheReadTokens"): number =>
        requests.reduce((all, request) => all + request[field], 0);
      expect([total, requests.at(-1)?.spent ?? NO_SPENDING]).toEqual([journal, journal]);
      expect([sum("inputTokens"), sum("cacheReadTokens")]).toEqual([
        journal.usage.inputTokens,
        journal.usage.cacheReadTokens ?? 0,
      ]);
    }),
  );
});

test("every moment of every run counts once", () => {
  fc.assert(
    fc.property(journals, (entries) => {
      const { shares, axis } = runTimeline(entries);
      const parts = Object.values(shares).reduce((all, part) => all + part, 0);
      const runs = axis.stretches.reduce((all, { from, to }) => all + to - from, 0);
      expect(parts).toBeCloseTo(runs, 3);
    }),
  );
});

test("later moments never stand further left on the axis", () => {
  fc.assert(
    fc.property(journals, (entries) => {
      const { axis, lanes } = runTimeline(entries);
      const times = lanes.flatMap(({ bars }) => bars.flatMap(({ from, to }) => [from, to]));
      const places = times.sort((left, right) => left - right).map((time) => axisPositionOf(axis, time));
      expect(places).toEqual(places.toSorted((left, right) => left - right));
      expect(places.every((place) => place >= 0 && place <= axis.length)).toBe(true);
    }),
  );
});

test("pauses together take little of the axis, and all work is done at its end", () => {
  fc.assert(
    fc.property(journals, (entries) => {
      const { axis } = runTimeline(entries);
      const worked = axis.stretches.reduce((all, { from, to }) => all + to - from, 0);
      expect(axis.length).toBeLessThanOrEqual(Math.max(1, worked * 1.13));
      expect(activeTimeAt(axis, axis.length)).toBeCloseTo(worked, 3);
    }),
  );
});

test("drawn bars never overlap, stand for every bar, and are never more than pixels", () => {
  fc.assert(
    fc.property(journals, fc.integer({ min: 1, max: 400 }), (entries, pixels) => {
      const { axis, lanes } = runTimeline(entries);
      for (const { bars } of lanes) {
        const drawn = drawnBars(bars, axis, { from: 0, to: axis.length * 1.000001, pixels });
        expect(
          drawn.every(
            ({ x, width }, at) => width >= 1 && x >= (drawn[at - 1]?.x ?? 0) + (drawn[at - 1]?.width ?? 0),
          ),
        ).toBe(true);
        expect(drawn.reduce((all, { count }) => all + count, 0)).toBe(bars.length);
        expect(drawn.length).toBeLessThanOrEqual(pixels);
      }
    }),
  );
});

test("ten times the entries take ten times the steps", () => {
  const entries = new JournalMaker(7).make(100_000);
  const few = countReads(entries.slice(0, 10_000), (watched) => runTimeline(watched));
  const many = countReads(entries, (watched) => runTimeline(watched));
  expect(many / few).toBeLessThan(10.5);
});

let made = 0;
const at = (time: number, entry: object): JournalEntry =>
  ({ id: `e${made++}`, parent: null, time, ...entry }) as unknown as JournalEntry;
const said = (time: number, more: object = {}): JournalEntry =>
  at(time, {
    type: "assistant_message",
    message: { role: "assistant", content: [] },
    model: "m/one",
    finishReason: { unified: "stop", raw: "" },
    usage: { inputTokens: 100, outputTokens: 10 },
    costUsd: 0.5,
    ...more,
  });
const start = (time: number, more: object = {}): JournalEntry =>
  at(time, { type: "run_start", sessionId: "s", model: "m/one", tools: [], ...more });
const begins = (time: number, callId: string, more: object = {}): JournalEntry =>
  at(time, { type: "tool_intent", callId, name: "bash", input: {}, ...more });
const ends = (time: number, callId: string, more: object = {}): JournalEntry =>
  at(time, {
    type: "tool_result",
    callId,
    name: "bash",
    status: "ok",
    result: { type: "tool_result", tool_use_id: callId, content: "" },
    durationMs: 5,
    ...more,
  });
const ended = (time: number, stopReason = "completed", more: object = {}): JournalEntry =>
  at(time, { type: "run_end", stopReason, iterations: 1, ...more });

/** Lanes as lines: `kind from-to status`. */
function lines(entries: readonly JournalEntry[], now?: number): readonly string[] {
  return runTimeline(entries, now).lanes.map(
    ({ kind, names, bars }) =>
      `${[kind, ...names].join(" ")}: ${bars.map((bar) => `${bar.kind} ${bar.from}-${bar.to} ${bar.status}`).join(", ")}`,
  );
}

test("a request is a wait for the first token and then a stream; calls that overlap have lanes of their own", () => {
  const entries = [
    start(0),
    said(1_000, { durationMs: 900, firstTokenMs: 400 }),
    begins(1_010, "a"),
    begins(1_020, "b"),
    ends(1_500, "a"),
    ends(1_600, "b"),
    said(3_000, { durationMs: 1_300, firstTokenMs: 300 }),
    begins(3_010, "c"),
    ends(3_020, "c", { status: "error" }),
    ended(3_100),
  ];
  expect(lines(entries)).toEqual([
    "model: waiting 100-500 ok, streaming 500-1000 ok, waiting 1700-2000 ok, streaming 2000-3000 ok",
    "tools: tool 1010-1500 ok, tool 3010-3020 error",
    "tools: tool 1020-1600 ok",
  ]);
  expect(runTimeline(entries).shares).toEqual({
    streaming: 1_500,
    waiting: 700,
    tool: 600,
    retry: 0,
    asking: 0,
    compaction: 0,
    other: 300,
  });
});

test("failed attempts and the pauses behind them stand before the answer", () => {
  const retry = (time: number, delayMs: number): JournalEntry =>
    at(time, { type: "retry", attempt: 2, delayMs, error: { name: "E", message: "busy" } });
  expect(
    lines([
      start(0),
      retry(200, 300),
      retry(700, 100),
      said(1_000, { durationMs: 1_000, firstTokenMs: 900 }),
      ended(1_000),
    ]),
  ).toEqual([
    "model: failed 0-200 error, backoff 200-500 ok, failed 500-700 error, backoff 700-800 ok, waiting 800-900 ok, streaming 900-1000 ok",
  ]);
  expect(lines([start(0), retry(200, 300), ended(900, "error")])).toEqual([
    "model: failed 0-200 error, backoff 200-500 ok, failed 500-900 error",
  ]);
});

test("a subagent has a lane of its own, which the next one shares", () => {
  const scope = { scope: "task/a" };
  const other = { scope: "task/b" };
  const entries = [
    start(0),
    begins(10, "a", { name: "task" }),
    start(20, { agent: "scout", ...scope }),
    said(100, { durationMs: 60, firstTokenMs: 20, ...scope }),
    begins(110, "inner", scope),
    ends(120, "inner", scope),
    ended(130, "completed", scope),
    ends(140, "a", { name: "task" }),
    begins(200, "b", { name: "task" }),
    start(210, { agent: "scout", ...other }),
    begins(215, "open", other),
    ended(230, "error", other),
    ends(240, "b", { name: "task" }),
    ended(300),
  ];
  expect(lines(entries)).toEqual([
    "tools: tool 10-140 ok, tool 200-240 ok",
    "agent scout: waiting 40-60 ok, streaming 60-100 ok, tool 110-120 ok, tool 215-230 cut",
  ]);
  expect(runTimeline(entries).requests.map(({ isNested }) => isNested)).toEqual([true]);
});

test("the time in which a person is asked is theirs; a refusal is a mark", () => {
  const asks = (time: number, callId: string): JournalEntry =>
    at(time, { type: "approval_request", callId, name: "bash", input: {}, reason: "" });
  const decides = (time: number, callId: string, action: string): JournalEntry =>
    at(time, {
      type: "permission_decision",
      callId,
      name: "bash",
      input: {},
      action,
      by: "person",
      reason: "",
    });
  expect(
    lines([
      start(0),
      asks(10, "a"),
      decides(500, "a", "allow"),
      begins(500, "a"),
      ends(600, "a"),
      asks(700, "b"),
      decides(800, "b", "deny"),
      ends(810, "b", { status: "denied" }),
      ended(900, "denied"),
    ]),
  ).toEqual(["you: asking 10-500 ok, asking 700-800 ok", "tools: tool 500-600 ok, tool 810-810 denied"]);
});

test("what has no end was cut with the last entry of its run, or is at work now", () => {
  const entries = [start(0), begins(100, "a"), begins(200, "b")];
  expect([lines(entries), lines(entries, 900), lines([...entries, start(5_000), ended(5_100)])]).toEqual([
    ["tools: tool 100-200 cut, tool 200-200 cut"],
    ["tools: tool 100-900 running", "tools: tool 200-900 running"],
    ["tools: tool 100-200 cut, tool 200-200 cut"],
  ]);
});

test("pauses between runs are cut down to a small gap, and told", () => {
  const { axis } = runTimeline([start(0), ended(1_000), start(3_601_000), ended(3_602_000)]);
  expect(axis).toEqual({
    stretches: [
      { from: 0, to: 1_000, at: 0, workedBefore: 0, idleBefore: 0 },
      { from: 3_601_000, to: 3_602_000, at: 1_030, workedBefore: 1_000, idleBefore: 3_600_000 },
    ],
    length: 2_030,
  });
});

test("a run whose start is missing began with its first work", () => {
  const asked = at(0, { type: "user_message", source: "input", message: { role: "user", content: [] } });
  const rest = [said(1_000, { durationMs: 900 }), begins(1_010, "a"), ends(2_000, "a"), ended(2_100)];
  for (const entries of [rest, [asked, ...rest], [start(0), ended(50), ...rest]])
    expect(runTimeline(entries).axis.stretches.at(-1)).toMatchObject({ from: 100, to: 2_100 });
});
