import { expect, test } from "vitest";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import type { PassingEvent } from "../../../server/server-api.ts";
import type { Question } from "../../../view/question.ts";
import { SessionFeed } from "./session-feed.ts";

const base = { parent: null, time: 1_000 };
const START: JournalEntry = {
  ...base,
  id: "e1",
  type: "run_start",
  sessionId: "s",
  model: "a/one",
  tools: [],
};
const ASKED: JournalEntry = {
  ...base,
  id: "e2",
  type: "user_message",
  source: "input",
  message: { role: "user", content: [{ type: "text", text: "Hello" }] },
};
const ANSWER: JournalEntry = {
  ...base,
  id: "e3",
  type: "assistant_message",
  model: "a/one",
  message: { role: "assistant", content: [{ type: "text", text: "Good morning" }] },
  finishReason: { unified: "stop", raw: "stop" },
  usage: { inputTokens: 10, outputTokens: 5 },
  costUsd: 0.5,
  durationMs: 3,
};
const END: JournalEntry = { ...base, id: "e4", type: "run_end", stopReason: "completed", iterations: 1 };

const question = (id: string): Question => ({ id, type: "permission", time: 1, reason: "why", choices: [] });

function fed(...items: readonly (JournalEntry | { readonly passing: PassingEvent })[]): SessionFeed {
  const feed = new SessionFeed();
  for (const item of items)
    feed.apply(
      "passing" in item ? { type: "passing", passing: item.passing } : { type: "entry", entry: item },
    );
  return feed;
}

function texts({ snapshot }: SessionFeed): readonly string[] {
  return snapshot.view.items
    .filter((item) => item.isVoid !== true)
    .map((item) => (item.type === "user" || item.type === "answer" ? item.text : item.type));
}

const ready = { passing: { type: "ready" } } as const;
const delta = (text: string) =>
  ({ passing: { type: "event", event: { type: "text_delta", index: 0, text } } }) as const;

test("a session is its entries, folded, with its model and what it cost", () => {
  const feed = fed(START, ASKED, ANSWER, END, ready);
  expect(texts(feed)).toEqual(["Hello", "Good morning", "run_end"]);
  const { view, entries, isReady } = feed.snapshot;
  expect({ model: view.model, cost: view.costUsd, usage: view.usage, entries, isReady }).toMatchObject({
    model: "a/one",
    cost: 0.5,
    usage: { inputTokens: 10, outputTokens: 5 },
    entries: [START, ASKED, ANSWER, END],
    isReady: true,
  });
});

test("an entry that comes twice, after a broken connection, counts once", () => {
  const running = { passing: { type: "state", state: "running" } } as const;
  expect(texts(fed(START, ASKED, running, ANSWER, ready, ASKED, ANSWER, END))).toEqual([
    "Hello",
    "Good morning",
    "run_end",
  ]);
});

test("text shows as it is written, and the entry takes its place", () => {
  const feed = fed(
    START,
    ASKED,
    { passing: { type: "state", state: "running" } },
    ready,
    delta("Good "),
    delta("mor"),
  );
  expect(texts(feed)).toEqual(["Hello", "Good mor"]);
  feed.apply({ type: "entry", entry: ANSWER });
  expect(texts(feed)).toEqual(["Hello", "Good morning"]);
});

test("a run that has no end is at work while the session is, and was cut where nothing runs", () => {
  const running = fed(START, ASKED, { passing: { type: "state", state: "running" } }, ready);
  expect([running.snapshot.view.state, running.snapshot.view.run?.phase, texts(running)]).toEqual([
    "running",
    "waiting",
    ["Hello"],
  ]);
  expect(texts(fed(START, ASKED, { passing: { type: "state", state: "idle" } }, ready))).toEqual([
    "Hello",
    "run_end",
  ]);
});

test("questions open and close, and are asked once each", () => {
  const feed = fed(
    ready,
    { passing: { type: "question", question: question("q1") } },
    { passing: { type: "question", question: question("q2") } },
    { passing: { type: "question", question: question("q1") } },
  );
  expect(feed.snapshot.view.questions.map(({ id }) => id)).toEqual(["q2", "q1"]);
  feed.apply({ type: "passing", passing: { type: "question_closed", id: "q2" } });
  expect(feed.snapshot.view.questions.map(({ id }) => id)).toEqual(["q1"]);
});

test("messages that wait are those that were told last", () => {
  const queue = [{ id: "m", text: "later" }];
  const { snapshot } = fed(ready, { passing: { type: "queue", queue, held: true } });
  expect([snapshot.view.queue, snapshot.view.queueHeld]).toEqual([queue, true]);
});

test("a conversation that was rewound begins anew", () => {
  const feed = fed(START, ASKED, ANSWER, END, ready, { passing: { type: "reset" } }, START, ASKED);
  expect([texts(feed), feed.snapshot.isReady, feed.snapshot.entries.length]).toEqual([["Hello"], false, 2]);
});
