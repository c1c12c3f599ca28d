import fc from "fast-check";
import { expect, test } from "vitest";
import { RANDOM_HISTORY } from "../../../test/scenarios/random-history.ts";
import type { ModelTurn } from "../../core/agent/model-turn.ts";
import { NanoAgentError } from "../../core/base/errors.ts";
import {
  assistantMessage,
  type Message,
  messageText,
  toolCallsOf,
  userMessage,
} from "../../core/message/message.ts";
import { transcriptViolations } from "../../core/message/transcript.ts";
import type { ModelRequest } from "../../core/model/model.ts";
import type { Compaction, CompactionTask } from "./compactor.ts";
import { type SummaryCompactionOptions, summaryCompaction } from "./summary-compaction.ts";

const NOW = Date.UTC(2026, 10, 21);

function answer(text: string): ModelTurn {
  return { type: "answer", message: assistantMessage(text), finishReason: { unified: "stop", raw: "stop" } };
}

interface SummaryRequest {
  readonly requests: ModelRequest[];
  readonly warnings: string[];
  readonly task: CompactionTask;
}

function asked(
  messages: readonly Message[],
  changes: Partial<CompactionTask> = {},
  answers: readonly ModelTurn[] = [],
): SummaryRequest {
  const requests: ModelRequest[] = [];
  const warnings: string[] = [];
  const task: CompactionTask = {
    conversation: {},
    messages,
    revision: 0,
    measured: undefined,
    request: { system: "You are a coding agent." },
    tools: [],
    info: { contextWindow: 20_000 },
    reason: "threshold",
    signal: new AbortController().signal,
    ask: async (request) => {
      requests.push(request);
      return answers[requests.length - 1] ?? answer("## Goal: mend the build");
    },
    entries: () => [],
    warn: (message) => warnings.push(message),
    ...changes,
  };
  return { requests, warnings, task };
}

function compact(
  task: CompactionTask,
  options: SummaryCompactionOptions = {},
): Promise<Compaction | undefined> {
  return summaryCompaction({ now: () => NOW, ...options }).compact(task);
}

function after(messages: readonly Message[], { messages: head, kept }: Compaction): readonly Message[] {
  return [...head, ...messages.slice(messages.length - kept)];
}

/** Work of `turns` answers, each with a call and a result of so many words. */
function work(turns: number, words = 300): Message[] {
  const messages: Message[] = [userMessage("Mend the build. 用 npm，不要用 yarn。")];
  for (let turn = 0; turn < turns; turn += 1) {
    const id = `c${turn}`;
    messages.push(
      assistantMessage([
        { type: "text", text: `I look at file ${turn}. ${"It says something. ".repeat(20)}` },
        { type: "tool_use", id, name: turn % 2 === 0 ? "read" : "edit", input: { path: `src/f${turn}.ts` } },
      ]),
      userMessage([{ type: "tool_result", tool_use_id: id, content: `line ${turn} `.repeat(words) }]),
    );
  }
  return messages;
}

test("the summary stands behind the words of the user, with the files touched and the todo list", async () => {
  const messages = [
    ...work(6, 10),
    assistantMessage([{ type: "tool_use", id: "t", name: "todo", input: { todos: ["mend a", "test b"] } }]),
    userMessage([{ type: "tool_result", tool_use_id: "t", content: "[ ] mend a\n[ ] test b" }]),
    assistantMessage("I go on."),
    userMessage("Yes, and keep the API."),
    ...work(6)
      .slice(1)
      .map((message) => renamed(message)),
  ];
  const { task, requests } = asked(messages, { reason: "manual" });
  const compaction = await compact(task);
  expect(compaction).toMatchObject({ method: "summary" });
  const texts = (compaction?.messages ?? []).map((message) => messageText(message));
  expect(texts.slice(0, 2)).toEqual(["Mend the build. 用 npm，不要用 yarn。", "Yes, and keep the API."]);
  expect(texts[2]).toContain("<summary>\n## Goal: mend the build\n</summary>");
  expect(texts[2]).toContain("On 2026-11-21 ");
  expect(texts[2]).toContain("<todo_list>\n[ ] mend a\n[ ] test b\n</todo_list>");
  expect(texts[2]).toContain("- edited: src/f1.ts\n- read: src/f2.ts");
  // The request begins like any other of the conversation, so that a provider finds it in its cache.
  expect(requests[0]).toMatchObject({ system: "You are a coding agent." });
  expect(requests[0]?.messages.slice(0, -1)).toEqual(messages);
});

test("on request old tool results are shortened first, and the model is not asked when that is enough", async () => {
  const messages = work(8, 900);
  const { task, requests } = asked(messages);
  const compaction = await compact(task, { shortenResults: true });
  expect(compaction).toMatchObject({ method: "shortening" });
  expect(requests).toEqual([]);
  expect(compaction?.messages.length).toBe(messages.length - (compaction?.kept ?? 0));
  expect(await compact(asked(messages).task)).toMatchObject({ method: "summary" });
});

test.each([
  ["fails", { type: "failed", error: new NanoAgentError("provider_error", "down") } as const, "down"],
  ["is empty", answer(" "), "wrote none"],
  ["is longer than the conversation", answer("word ".repeat(30_000)), "longer than what it replaces"],
  ["may not be paid", { type: "exhausted", limit: "usd" } as const, "budget is used up"],
])("when the summary %s the conversation stays as it is", async (_what, reply, why) => {
  const { task, warnings } = asked(work(40, 30), {}, [reply, reply]);
  expect(await compact(task)).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining(why)]);
});

test("when the summary fails and the conversation cannot be sent, its older part is left out without one", async () => {
  const failed = { type: "failed", error: new NanoAgentError("provider_error", "down") } as const;
  const messages = work(40, 30);
  const { task, warnings } = asked(messages, { reason: "overflow" }, [failed]);
  const compaction = await compact(task);
  expect(compaction).toMatchObject({ method: "truncation" });
  expect(compaction === undefined ? [] : transcriptViolations(after(messages, compaction))).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("older messages were left out without one")]);
});

test("a history far beyond the window is summarised in one request that fits, with the summary so far", async () => {
  const messages = work(200, 30);
  const first = asked(messages, { reason: "overflow", info: { contextWindow: 8_000 } });
  const compaction = await compact(first.task);
  expect(compaction).toMatchObject({ method: "summary" });
  expect(compaction?.tokensAfter).toBeLessThan(6_400);
  const again = [...(compaction?.messages ?? []), ...work(100, 30).slice(1)];
  const second = asked(again, { reason: "overflow", info: { contextWindow: 8_000 } });
  await compact(second.task);
  const texts = [...first.requests, ...second.requests].map(({ messages: [sent] }) =>
    messageText(sent ?? userMessage("")),
  );
  expect(texts.map((text) => text.length < 8_000 * 4)).toEqual([true, true]);
  expect(texts[1]).toContain("<summary_so_far>\n## Goal: mend the build\n</summary_so_far>");
});

test("a model that calls tools instead of writing is asked about the transcript as a text", async () => {
  const calling: ModelTurn = {
    type: "answer",
    message: assistantMessage([{ type: "tool_use", id: "x", name: "read", input: {} }]),
    finishReason: { unified: "tool_use", raw: "tool_use" },
  };
  const { task, requests } = asked(work(40, 30), { request: { stopSequences: ["##"] } }, [calling]);
  expect(await compact(task)).toMatchObject({ method: "summary" });
  expect(requests.map(({ tools, stopSequences }) => [tools, stopSequences])).toEqual([
    [undefined, undefined],
    [undefined, undefined],
  ]);
  expect(requests[1]?.messages).toHaveLength(1);
});

test("one huge result at the end is cut, so that the turn it belongs to fits", async () => {
  const messages = [
    ...work(2, 30),
    ...work(1, 60_000)
      .slice(1)
      .map((message) => renamed(message)),
  ];
  const { task, requests } = asked(messages, { reason: "overflow" });
  const compaction = await compact(task);
  expect(compaction).toMatchObject({ method: "shortening" });
  expect(compaction?.tokensAfter).toBeLessThan(12_000);
  expect(requests).toEqual([]);
});

test("words of the user that alone are too long are kept newest first, the cut marked", async () => {
  const messages = work(4, 30);
  for (let at = 0; at < 60; at += 1)
    messages.push(
      userMessage(`Remark ${at}: ${"please mind this too. ".repeat(40)}`),
      assistantMessage("Noted."),
    );
  const { task } = asked(messages, { reason: "overflow" });
  const compaction = await compact(task);
  const texts = (compaction?.messages ?? []).map((message) => messageText(message));
  expect(texts[0]).toBe("Mend the build. 用 npm，不要用 yarn。");
  expect(texts[1]).toMatch(/^\[\d+ messages of the user were left out here to make room\.\]$/);
  expect(texts.some((text) => text.startsWith("Remark 40: "))).toBe(true);
  expect(compaction?.tokensAfter).toBeLessThan(compaction?.tokensBefore ?? 0);
});

test("a conversation that cannot be made smaller is not tried at every turn", async () => {
  const compactor = summaryCompaction();
  const { task } = asked(work(18, 30), { info: { contextWindow: 5_000 } }, [answer(""), answer("")]);
  const view = { ...task, measured: { tokens: 4_400, messages: task.messages.length } };
  expect(await compactor.isNeeded(view)).toBe(true);
  await compactor.compact({ ...view, signal: task.signal });
  expect(await compactor.isNeeded(view)).toBe(false);
  expect(await compactor.isNeeded({ ...view, measured: { ...view.measured, tokens: 4_950 } })).toBe(true);
});

test("where system prompt and tools alone fill the window, that is said and no model is asked", async () => {
  const request = { system: "You are careful. ".repeat(3_000) };
  const { task, requests, warnings } = asked(work(4), { request, info: { contextWindow: 10_000 } });
  expect(await compact(task)).toBeUndefined();
  expect([requests, warnings]).toEqual([
    [],
    [expect.stringContaining("system prompt and tools alone take about")],
  ]);
});

test("room is held free for the answer, and an unknown window is never full", async () => {
  const { task } = asked(work(1));
  const measured = (tokens: number) => ({ tokens, messages: task.messages.length });
  const isNeeded = (tokens: number, changes: object, options: SummaryCompactionOptions = {}) =>
    summaryCompaction(options).isNeeded({ ...task, measured: measured(tokens), ...changes });
  expect([
    await isNeeded(16_001, {}),
    await isNeeded(15_999, {}),
    await isNeeded(15_500, { info: { contextWindow: 20_000, maxOutputTokens: 8_000 } }),
    await isNeeded(13_000, { request: { maxOutputTokens: 8_000 } }),
    await isNeeded(9_999, { request: { maxOutputTokens: 19_000 } }),
    await isNeeded(9e9, { info: undefined }),
    await isNeeded(5_000, { info: undefined }, { window: 5_000 }),
    await isNeeded(6_000, {}, { at: 0.25 }),
  ]).toEqual([true, false, true, true, false, false, true, true]);
});

test("a preview tells what would go and asks no model", async () => {
  const messages = work(40, 30);
  const { task, requests } = asked(messages, { info: { contextWindow: 8_000 } });
  const preview = await summaryCompaction({ now: () => NOW }).preview(task);
  expect(preview).toMatchObject({
    isNeeded: true,
    method: "summary",
    window: 8_000,
    pinned: { userMessages: 1, todo: false },
  });
  expect(preview.replaced.length + preview.kept.length).toBe(messages.length);
  expect(preview.tokensAfter).toBeLessThan(preview.limit ?? 0);
  expect(requests).toEqual([]);
  const none = await summaryCompaction().preview({ ...task, messages: [userMessage("go")] });
  expect(none).toMatchObject({ method: "none", replaced: [], isNeeded: false });
});

test.each([
  [{ at: 0 }, "compaction.at is 0; it must be a number above 0 up to 1."],
  [{ at: 80 }, "compaction.at is 80"],
  [{ keep: 1 }, "compaction.keep is 1"],
  [{ keepTurns: -1 }, "compaction.keepTurns is -1"],
  [{ window: 0.5 }, "compaction.window is 0.5"],
])("%j is refused", (options, message) => {
  expect(() => summaryCompaction(options)).toThrow(message);
});

const REPLIES: readonly ModelTurn[] = [
  answer("## Goal: mend\n## Findings: port 8080"),
  answer("x".repeat(50_000)),
  answer(""),
  { type: "failed", error: new NanoAgentError("context_overflow", "too long") },
  { type: "failed", error: new NanoAgentError("provider_error", "down") },
];

test("whatever the history and the summary: what is left can be sent, keeps every word of the user, and is smaller", async () => {
  const facts = fc.record({
    history: RANDOM_HISTORY,
    window: fc.constantFrom(6_000, 20_000, 100_000),
    reason: fc.constantFrom("threshold" as const, "overflow" as const, "manual" as const),
    replies: fc.array(fc.constantFrom(...REPLIES), { maxLength: 5 }),
    keepTurns: fc.nat(3),
    shortenResults: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(facts, async ({ history, window, reason, replies, keepTurns, shortenResults }) => {
      let messages = history.messages;
      // What is left is compacted once more, as it is in a long session.
      for (let round = 0; round < 2; round += 1) {
        const { task } = asked(messages, { info: { contextWindow: window }, reason }, replies);
        const compaction = await compact(task, { keepTurns, shortenResults });
        if (compaction === undefined) return;
        const left = after(messages, compaction);
        expect(compaction.tokensAfter).toBeLessThan(compaction.tokensBefore);
        expect(transcriptViolations(history.isOpen ? left.slice(0, -1) : left)).toEqual([]);
        if (history.isOpen) expect(toolCallsOf(left.at(-1) ?? userMessage(""))).not.toEqual([]);
        expect(left[0]?.role).toBe("user");
        expect(wordsOfUser(left)).toEqual(expect.arrayContaining([...wordsOfUser(messages)]));
        messages = left;
      }
    }),
    { numRuns: 70 },
  );
});

function wordsOfUser(messages: readonly Message[]): readonly string[] {
  return messages
    .filter(({ role, content }) => role === "user" && content.every(({ type }) => type === "text"))
    .map((message) => messageText(message))
    .filter((text) => !text.startsWith("<conversation_summary>"));
}

function renamed(message: Message): Message {
  return JSON.parse(JSON.stringify(message).replaceAll(/"c(\d+)"/g, '"d$1"')) as Message;
}
