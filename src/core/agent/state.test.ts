import fc from "fast-check";
import { expect, test } from "vitest";
import { assistantMessage, type Message, userMessage } from "../message/message.ts";
import { transcriptViolations } from "../message/transcript.ts";
import type { JournalEntry, NewEntry } from "./entries.ts";
import { SessionState } from "./state.ts";

type Step = "user" | "answer" | "calls" | "result" | "end" | "compaction" | "undo" | "history";

const STEP = fc.record({
  type: fc.constantFrom<Step>(
    "user",
    "answer",
    "calls",
    "result",
    "result",
    "end",
    "compaction",
    "undo",
    "history",
  ),
  size: fc.nat(6),
  isLost: fc.boolean(),
});

/** The entries of a journal in which anything may follow anything, as damage leaves it. */
function entriesOf(
  steps: readonly { readonly type: Step; readonly size: number; readonly isLost: boolean }[],
): JournalEntry[] {
  let calls = 0;
  let compaction = "none";
  return steps.flatMap(({ type, size, isLost }, at): JournalEntry[] => {
    const id = `e${at}`;
    const stored = (entry: NewEntry): JournalEntry[] =>
      isLost && size > 3 ? [] : [{ id, parent: null, time: at, ...entry }];
    const usage = { inputTokens: 10 * size, outputTokens: 1 };
    const said = {
      type: "assistant_message",
      model: "m",
      finishReason: { unified: "stop", raw: "" },
      usage,
      durationMs: 0,
    } as const;
    switch (type) {
      case "user":
        return stored({ type: "user_message", message: userMessage(`q${at}`), source: "input" });
      case "answer":
        return stored({ ...said, message: assistantMessage(`a${at}`) });
      case "calls": {
        const ids = Array.from({ length: 1 + (size % 3) }, () => `c${calls++}`);
        const content = ids.map((call) => ({ type: "tool_use" as const, id: call, name: "t", input: {} }));
        return stored({ ...said, message: assistantMessage(content) });
      }
      case "result": {
        const callId = `c${Math.max(0, calls - 1 - (size % 3))}`;
        const result = { type: "tool_result", tool_use_id: callId, content: "r" } as const;
        return stored({ type: "tool_result", callId, name: "t", status: "ok", result, durationMs: 0 });
      }
      case "end":
        return stored({
          type: "run_end",
          stopReason: size > 3 ? "awaiting_external" : "completed",
          iterations: 1,
        });
      case "history":
        return stored({ type: "history", messages: [userMessage(`h${at}`)] });
      case "compaction":
        compaction = id;
        return stored({
          type: "compaction",
          reason: "manual",
          method: "summary",
          messages: [userMessage(`s${at}`)],
          kept: size - 1,
          tokensBefore: 2,
          tokensAfter: 1,
        });
      case "undo":
        return stored({ type: "compaction_undone", target: size > 4 ? "other" : compaction });
    }
  });
}

function closed(state: SessionState): readonly Message[] {
  const { messages, pending } = state.transcript;
  return pending.length > 0 ? messages.slice(0, -1) : messages;
}

test("whatever a journal holds, compactions with wrong counts and undone ones too, what is folded can be sent", () => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 40 }), (steps) => {
      const state = new SessionState();
      for (const entry of entriesOf(steps)) {
        state.apply(entry);
        expect(transcriptViolations(closed(state))).toEqual([]);
        expect(state.measured?.messages ?? 0).toBeLessThanOrEqual(state.transcript.messages.length);
      }
    }),
    { numRuns: 500 },
  );
});

test("a compaction that is taken back leaves the conversation as if it had never been", () => {
  fc.assert(
    fc.property(fc.array(STEP, { maxLength: 20 }), fc.integer({ min: 0, max: 9 }), (steps, kept) => {
      const entries = entriesOf(steps.filter(({ type }) => type !== "compaction" && type !== "undo"));
      const plain = new SessionState();
      const undone = new SessionState();
      entries.forEach((entry, at) => {
        plain.apply(entry);
        undone.apply(entry);
        if (at !== Math.floor(entries.length / 2)) return;
        const base = { parent: null, time: 0 };
        undone.apply({
          ...base,
          id: "x",
          type: "compaction",
          reason: "manual",
          method: "summary",
          messages: [userMessage("s")],
          kept,
          tokensBefore: 2,
          tokensAfter: 1,
        });
      });
      undone.apply({ id: "y", parent: null, time: 0, type: "compaction_undone", target: "x" });
      expect(undone.transcript.messages).toEqual(plain.transcript.messages);
      expect(undone.transcript.pending).toEqual(plain.transcript.pending);
      expect(undone.session).toEqual(plain.session);
    }),
    { numRuns: 300 },
  );
});

test("a run that goes on behind its end has its requests and its time, and what ended it does not hold any more", () => {
  const run = { sessionId: "s", model: "p/m", tools: [] };
  const at = (time: number, entry: NewEntry): JournalEntry => ({
    id: `e${time}`,
    parent: null,
    time,
    ...entry,
  });
  const state = new SessionState();
  const answer = {
    type: "assistant_message",
    message: assistantMessage("a"),
    model: "p/m",
    finishReason: { unified: "error", raw: "" },
    usage: { inputTokens: 10, outputTokens: 1 },
    durationMs: 0,
  } as const;
  const entries: readonly JournalEntry[] = [
    at(0, { type: "run_start", ...run }),
    at(10, {
      type: "permission_decision",
      callId: "c",
      name: "n",
      input: {},
      action: "deny",
      by: "person",
      reason: "no",
      stop: true,
    }),
    at(20, answer),
    at(30, { type: "run_end", stopReason: "error", iterations: 1 }),
    at(1_000, { type: "run_resume", ...run }),
    at(1_040, answer),
  ];
  for (const entry of entries.slice(0, -1)) state.apply(entry);
  const { progress } = state;
  const resumed = [progress.answer, state.isStopped, progress.isOpen];
  for (const entry of entries.slice(-1)) state.apply(entry);
  expect([resumed, progress.iterations, progress.activeMs, state.run.usage.inputTokens]).toEqual([
    [undefined, false, true],
    2,
    70,
    20,
  ]);
});
