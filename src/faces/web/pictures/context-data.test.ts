import fc from "fast-check";
import { expect, test } from "vitest";
import { countReads, JournalMaker } from "../../../../test/web/made-journal.ts";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { CONTEXT_PARTS, type ContextTurn, contextTurns, largestPieces } from "./context-data.ts";

const total = ({ parts }: ContextTurn): number => CONTEXT_PARTS.reduce((sum, part) => sum + parts[part], 0);

test("the parts of every request add up to what the provider counted, and none is negative", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 0, max: 300 }), (seed, size) => {
      const entries = new JournalMaker(seed).make(size);
      const turns = contextTurns(entries);
      const answers = entries.filter(
        (entry) => entry.type === "assistant_message" && entry.scope === undefined,
      );
      expect(turns.map(({ entryId }) => entryId)).toEqual(answers.map(({ id }) => id));
      for (const [at, turn] of turns.entries()) {
        const answer = answers[at];
        if (answer?.type !== "assistant_message") continue;
        expect(total(turn)).toBeCloseTo(answer.usage.inputTokens, 4);
        expect(CONTEXT_PARTS.filter((part) => turn.parts[part] < 0)).toEqual([]);
      }
    }),
  );
});

test("ten times the entries take ten times the steps", () => {
  const entries = new JournalMaker(7).make(100_000);
  const few = countReads(entries.slice(0, 10_000), (watched) => contextTurns(watched));
  const many = countReads(entries, (watched) => contextTurns(watched));
  expect(many / few).toBeLessThan(10.5);
});

let made = 0;
const at = (entry: object): JournalEntry =>
  ({ id: `e${made++}`, parent: null, time: made, ...entry }) as unknown as JournalEntry;
const input = (text: string, source = "input"): JournalEntry =>
  at({ type: "user_message", source, message: { role: "user", content: [{ type: "text", text }] } });
const answer = (content: readonly object[], usage: object): JournalEntry =>
  at({
    type: "assistant_message",
    message: { role: "assistant", content },
    model: "m/one",
    finishReason: { unified: "stop", raw: "" },
    usage: { outputTokens: 10, ...usage },
    durationMs: 1,
  });
const call = (id: string): object => ({ type: "tool_use", id, name: "read", input: { path: "a" } });
const result = (id: string, content: string): JournalEntry =>
  at({
    type: "tool_result",
    callId: id,
    name: "read",
    status: "ok",
    result: { type: "tool_result", tool_use_id: id, content },
    durationMs: 1,
  });
const rounded = (turn: ContextTurn | undefined): object =>
  Object.fromEntries(
    CONTEXT_PARTS.map((part) => [part, Math.round(turn?.parts[part] ?? 0)]).filter(
      ([, tokens]) => tokens !== 0,
    ),
  );

test("what comes between two requests is told apart: a long result, and what no message holds", () => {
  const entries = [
    input("Read a file, please: I want to know what is in it."),
    answer([call("a")], { inputTokens: 1_000 }),
    result("a", "word ".repeat(600)),
    answer([{ type: "text", text: "It has words." }], { inputTokens: 1_800, cacheReadTokens: 990 }),
  ];
  const [first, second] = contextTurns(entries);
  expect(rounded(first)).toEqual({ fixed: 979, input: 21 });
  expect(rounded(second)).toEqual({ fixed: 979, input: 17, results: 804 });
  expect(second?.cacheReadTokens).toBe(990);
});

test("a compaction leaves a summary and what was kept", () => {
  const before = [
    input("One"),
    answer([{ type: "text", text: "Long. ".repeat(500) }], { inputTokens: 500 }),
    input("Two"),
    answer([{ type: "text", text: "Yes" }], { inputTokens: 1_500 }),
  ];
  const summary = { role: "user", content: [{ type: "text", text: "It was said at length." }] };
  const entries = [
    ...before,
    at({
      type: "compaction",
      reason: "manual",
      method: "summary",
      messages: [summary],
      kept: 1,
      tokensBefore: 1_500,
      tokensAfter: 510,
    }),
    input("Three"),
    answer([], { inputTokens: 520 }),
  ];
  const turns = contextTurns(entries);
  expect(turns.map(({ event }) => event)).toEqual([undefined, undefined, "compaction"]);
  expect(rounded(turns[2])).toEqual({ fixed: 497, summary: 12, input: 6, answers: 5 });
});

test("where no provider counted, the texts are estimated", () => {
  const [turn] = contextTurns([input("Some words"), answer([], { inputTokens: 0 })]);
  expect([turn?.isEstimated, rounded(turn)]).toEqual([true, { input: 8 }]);
});

test("the largest pieces of a request come first, with the calls and entries that brought them", () => {
  const entries = [
    input("Read it"),
    answer([call("a")], { inputTokens: 1_000 }),
    result("a", "word ".repeat(600)),
    answer([{ type: "text", text: "Done" }], { inputTokens: 1_700 }),
  ];
  const pieces = largestPieces(entries, entries[3]?.id ?? "", 2);
  expect(pieces.map(({ tokens: _tokens, ...piece }) => piece)).toEqual([
    { part: "results", label: "read", detail: "a", entryId: entries[2]?.id, since: 2 },
    { part: "results", label: "read", detail: "a", entryId: entries[1]?.id, since: 2 },
  ]);
});
