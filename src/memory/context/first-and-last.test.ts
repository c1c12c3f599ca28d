import fc from "fast-check";
import { expect, test } from "vitest";
import { RANDOM_HISTORY } from "../../../test/scenarios/random-history.ts";
import { assistantMessage, type Message, messageText, userMessage } from "../../core/message/message.ts";
import { transcriptViolations } from "../../core/message/transcript.ts";
import type { CompactionTask } from "./compactor.ts";
import { firstAndLast } from "./first-and-last.ts";

function task(messages: readonly Message[], reason: CompactionTask["reason"] = "threshold"): CompactionTask {
  return {
    conversation: {},
    messages,
    revision: 0,
    measured: undefined,
    request: {},
    tools: [],
    info: undefined,
    reason,
    signal: new AbortController().signal,
    ask: () => Promise.reject(new Error("no model is asked")),
    entries: () => [],
    warn: () => undefined,
  };
}

const CHAT = Array.from({ length: 12 }, (_each, at) =>
  at % 2 === 0 ? userMessage(`q${at}`) : assistantMessage(`a${at}`),
);

test("the first message and the last ones stay, once there are more than so many", async () => {
  const compactor = firstAndLast(5);
  expect([compactor.isNeeded(task(CHAT)), compactor.isNeeded(task(CHAT.slice(0, 5)))]).toEqual([true, false]);
  const compaction = await compactor.compact(task(CHAT));
  expect(compaction).toMatchObject({ method: "truncation", kept: 4 });
  expect(compaction?.messages.map((message) => messageText(message))).toEqual(["q0"]);
  expect(await compactor.preview(task(CHAT))).toMatchObject({ isNeeded: true, kept: CHAT.slice(8) });
});

test("a result whose call would go, goes too", async () => {
  const work = [0, 1, 2].flatMap((at) => [
    assistantMessage([{ type: "tool_use", id: `c${at}`, name: "read", input: {} }]),
    userMessage([{ type: "tool_result", tool_use_id: `c${at}`, content: "x" }]),
  ]);
  expect(await firstAndLast(4).compact(task([userMessage("go"), ...work]))).toMatchObject({ kept: 2 });
});

test("a request that was refused as too long is tried with half of the messages", async () => {
  expect(await firstAndLast(50).compact(task(CHAT, "overflow"))).toMatchObject({ kept: 5 });
});

test("with a larger maximum a conversation is cut less often", () => {
  expect(firstAndLast(5, { max: 12 }).isNeeded(task(CHAT))).toBe(false);
  expect(() => firstAndLast(1)).toThrow("firstAndLast(1): it must be a whole number from 2.");
  expect(() => firstAndLast(5, { max: 4 })).toThrow("max is 4; it must be a whole number from 5.");
});

test("whatever the history, what is left can be sent and is smaller", async () => {
  await fc.assert(
    fc.asyncProperty(RANDOM_HISTORY, fc.integer({ min: 2, max: 12 }), async ({ messages, isOpen }, count) => {
      const compaction = await firstAndLast(count).compact(task(messages));
      if (compaction === undefined) return;
      const left = [...compaction.messages, ...messages.slice(messages.length - compaction.kept)];
      expect(transcriptViolations(isOpen ? left.slice(0, -1) : left)).toEqual([]);
      expect(compaction.tokensAfter).toBeLessThan(compaction.tokensBefore);
      if (isOpen) expect(left.at(-1)).toBe(messages.at(-1));
    }),
    { numRuns: 60 },
  );
});
