import type { SessionUpdate } from "@agentclientprotocol/sdk";
import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_USAGE } from "../../core/message/message.ts";
import type { SessionView, ToolItem, ViewItem } from "../../view/view.ts";
import { ViewPublisher } from "./updates.ts";

const VIEW: SessionView = {
  state: "idle",
  items: [],
  queue: [],
  queueHeld: false,
  steering: [],
  questions: [],
  todo: [],
  jobs: [],
  model: "a/b",
  mode: "default",
  context: { usedTokens: 0 },
  usage: NO_USAGE,
  costUsd: 0,
};

function publisher(): { readonly publish: ViewPublisher; readonly sent: SessionUpdate[] } {
  const sent: SessionUpdate[] = [];
  const publish = new ViewPublisher(
    "/w",
    (update) => sent.push(update),
    () => undefined,
  );
  return { publish, sent };
}

const answer = (text: string, version: number): ViewItem => ({
  type: "answer",
  id: "a",
  version,
  time: 0,
  text,
  state: "streaming",
});

const call = (over: Partial<ToolItem>): ToolItem => ({
  type: "tool",
  id: "c1",
  callId: "c1",
  version: 1,
  time: 0,
  name: "read",
  input: { path: "src/a.ts" },
  title: "read src/a.ts",
  state: "running",
  ...over,
});

const textOf = (updates: readonly SessionUpdate[]): string =>
  updates
    .map((update) =>
      "content" in update &&
      update.content !== null &&
      typeof update.content === "object" &&
      "text" in update.content
        ? update.content.text
        : "",
    )
    .join("");

test("whatever the pieces, each character of an answer is sent once, in order", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), (pieces) => {
      const { publish, sent } = publisher();
      let text = "";
      for (const [at, piece] of pieces.entries()) {
        text += piece;
        publish.item(answer(text, at + 1));
        publish.item(answer(text, at + 1));
      }
      expect(textOf(sent)).toBe(text);
    }),
  );
});

test("an answer that begins anew after a failed attempt is sent whole", () => {
  const { publish, sent } = publisher();
  publish.item(answer("Hel", 1));
  publish.item(answer("", 2));
  publish.item(answer("Good day", 3));
  expect(textOf(sent)).toBe("HelGood day");
});

test("a call is announced once, then updated, with absolute places and an end that says what became of it", () => {
  const { publish, sent } = publisher();
  publish.item(call({ state: "writing", input: {}, title: "" }));
  publish.item(call({ version: 2, state: "running" }));
  publish.item(call({ version: 3, state: "denied", tail: "Refused." }));
  expect(sent).toEqual([
    expect.objectContaining({
      sessionUpdate: "tool_call",
      toolCallId: "c1",
      title: "read",
      status: "pending",
      locations: [],
    }),
    expect.objectContaining({
      sessionUpdate: "tool_call_update",
      status: "in_progress",
      kind: "read",
      locations: [{ path: "/w/src/a.ts" }],
    }),
    expect.objectContaining({
      status: "failed",
      content: [{ type: "content", content: { type: "text", text: "Refused." } }],
    }),
  ]);
});

test("edits and written files are diffs", () => {
  const { publish, sent } = publisher();
  const edits = [{ old_string: "a", new_string: "b" }, { old_string: 1 }];
  publish.item(call({ name: "edit", input: { path: "/x.ts", edits }, state: "ok" }));
  publish.item(
    call({ id: "c2", callId: "c2", name: "write", input: { path: "y.ts", content: "new" }, state: "ok" }),
  );
  expect(sent.map((update) => ("content" in update ? update.content : undefined))).toEqual([
    [{ type: "diff", path: "/x.ts", oldText: "a", newText: "b" }],
    [{ type: "diff", path: "/w/y.ts", newText: "new" }],
  ]);
});

test("calls of a subagent are shown under its name, its words are not", () => {
  const { publish, sent } = publisher();
  const items: ViewItem[] = [{ ...answer("inner", 1), id: "i" }, call({ id: "c9", callId: "c9" })];
  publish.item(call({ name: "task", agent: { name: "explore", outputTokens: 1, costUsd: 0, items } }));
  expect(sent.map((update) => ("title" in update ? update.title : update.sessionUpdate))).toEqual([
    "read src/a.ts",
    "explore: src/a.ts",
  ]);
});

test("a conversation that is loaded is sent with what the person said; live, the editor has shown that", () => {
  const user: ViewItem = {
    type: "user",
    id: "u",
    version: 1,
    time: 0,
    text: "Hi",
    images: 0,
    source: "input",
  };
  const items = [user, answer("Hello", 1)];
  const [loaded, live] = [publisher(), publisher()];
  loaded.publish.replay({ ...VIEW, items });
  for (const item of items) live.publish.item(item);
  expect([loaded.sent, live.sent].map((sent) => sent.map(({ sessionUpdate }) => sessionUpdate))).toEqual([
    ["session_info_update", "user_message_chunk", "agent_message_chunk"],
    ["session_info_update", "agent_message_chunk"],
  ]);
});

test("plan, mode and use of the window are sent when they change, and only then", () => {
  const { publish, sent } = publisher();
  const todo = [{ content: "a", status: "pending" }] as const;
  publish.rest(VIEW);
  publish.rest({ ...VIEW, todo, mode: "plan", context: { usedTokens: 10, windowTokens: 100 }, costUsd: 0.5 });
  publish.rest({ ...VIEW, todo, mode: "plan", context: { usedTokens: 10, windowTokens: 100 }, costUsd: 0.5 });
  expect(sent).toEqual([
    { sessionUpdate: "plan", entries: [{ content: "a", status: "pending", priority: "medium" }] },
    { sessionUpdate: "current_mode_update", currentModeId: "plan" },
    { sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount: 0.5, currency: "USD" } },
  ]);
});
