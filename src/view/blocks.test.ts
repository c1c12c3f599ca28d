import { expect, test } from "vitest";
import type { AgentEvent } from "../core/agent/entries.ts";
import { type Block, blockOf, type CallBlock, isFinal } from "./blocks.ts";
import type { ToolItem, ViewItem } from "./view.ts";
import { ENDING_ADVICE, ENDING_TEXTS, noticeOf, phraseText, retryText } from "./words.ts";

const BASE = { id: "i", version: 1, time: 0 };
const brief = { details: false };

function call(fields: Partial<ToolItem>): CallBlock {
  const item: ToolItem = {
    ...BASE,
    type: "tool",
    callId: "c",
    name: "read",
    input: {},
    title: "",
    state: "ok",
    ...fields,
  };
  return blockOf(item, brief) as CallBlock;
}

test.each<[string, Partial<ToolItem>, Pick<CallBlock, "shows" | "brief" | "output">]>([
  [
    "a result is told in a few words",
    { brief: "3 lines, 9 B", tail: "a\nb\nc" },
    { shows: "folded", brief: "3 lines, 9 B", output: "a\nb\nc" },
  ],
  [
    "a command shows its end, without the exit code its title says",
    { name: "bash", brief: "exit code 0", tail: "ok\n[exit code 0]" },
    { shows: "end", brief: "exit code 0", output: "ok" },
  ],
  [
    "what runs shows what it writes",
    { state: "running", tail: "half" },
    { shows: "open", brief: "", output: "half" },
  ],
  [
    "a failure that its output begins with is said once",
    { state: "error", brief: "No such f…", tail: "Error: No such file" },
    { shows: "open", brief: "", output: "No such file" },
  ],
  [
    "a failure with a title of its own keeps it",
    { state: "error", name: "bash", brief: "exit code 1", tail: "boom\n[exit code 1]" },
    { shows: "open", brief: "exit code 1", output: "boom" },
  ],
  [
    "a refusal shows its reason alone",
    { state: "denied", brief: "x", tail: "Error: Tool call was not approved: no writing" },
    { shows: "open", brief: "", output: "no writing" },
  ],
])("%s", (_name, fields, expected) => {
  expect(call(fields)).toMatchObject(expected);
});

test("the change of a call that failed was not made", () => {
  const diff = { path: "a", hunks: [], added: 1, removed: 0, isNew: false };
  expect([call({ diff }).diff, call({ diff, state: "aborted" }).diff]).toEqual([diff, undefined]);
});

test("the subject of a call is a line to read", () => {
  expect(["read a.ts", "a.ts", '{"a":1}', ""].map((title) => call({ title }).subject)).toEqual([
    "a.ts",
    "a.ts",
    "",
    "",
  ]);
});

test("a subagent shows its newest calls while it works, none when it is done, all of it in detail", () => {
  const items = ["1", "2", "3", "4"].map(
    (id): ViewItem => ({
      ...BASE,
      id,
      type: "tool",
      callId: id,
      name: "read",
      input: {},
      title: id,
      state: "ok",
    }),
  );
  const agent = {
    name: "helper",
    outputTokens: 1,
    costUsd: 0,
    items: [...items, { ...BASE, id: "a", type: "answer", text: "x", state: "done" } as const],
  };
  const item: ToolItem = {
    ...BASE,
    type: "tool",
    callId: "c",
    name: "task",
    input: {},
    title: "",
    state: "running",
    agent,
  };
  const shown = (state: ToolItem["state"], details: boolean): unknown => {
    const block = blockOf({ ...item, state, tail: "answer" }, { details }) as CallBlock;
    return [block.shows, block.agent?.calls, block.agent?.items.map(({ id }) => id)];
  };
  expect([shown("running", false), shown("ok", false), shown("ok", true)]).toEqual([
    ["folded", 4, ["2", "3", "4"]],
    ["folded", 4, []],
    ["folded", 4, ["1", "2", "3", "4", "a"]],
  ]);
});

test.each<[Partial<Extract<ViewItem, { type: "run_end" }>>, string]>([
  [{ stopReason: "completed" }, "info Done"],
  [{ stopReason: "awaiting_approval" }, "info Waits for your answer"],
  [
    { stopReason: "budget", limit: "usd" },
    "warning Budget used up. A higher --max-budget-usd lets it continue.",
  ],
  [{ stopReason: "budget", limit: "wall_time" }, "warning Time limit reached. Your next message continues."],
  [{ stopReason: "max_iterations" }, "warning Turn limit reached. Your next message continues."],
  [{ stopReason: "error", error: { code: "x", message: "broken" } }, "error broken"],
  [
    { stopReason: "aborted", error: { code: "x", message: "broken" } },
    "warning Stopped. Say what to do instead, or to continue.",
  ],
])("a run that ended with %j is told as %s", (end, text) => {
  const item = { ...BASE, type: "run_end", durationMs: 1, costUsd: undefined, ...end } as ViewItem;
  const { reason, level, error } = blockOf(item, brief) as Extract<Block, { kind: "end" }>;
  const next = ENDING_ADVICE[reason];
  expect(`${level} ${error ?? `${ENDING_TEXTS[reason]}${next === undefined ? "" : `. ${next}`}`}`).toBe(text);
});

test("a refused call is final once its result has the reason", () => {
  const item = {
    ...BASE,
    type: "tool",
    callId: "c",
    name: "x",
    input: {},
    title: "",
    state: "denied",
  } as const;
  expect([isFinal(item), isFinal({ ...item, brief: "no" })]).toEqual([false, true]);
});

test("what a failed attempt wrote is not drawn", () => {
  expect(blockOf({ ...BASE, type: "answer", text: "", state: "done", isVoid: true }, brief)).toBeUndefined();
});

test("compaction, a repeated circle, phases and a retry have their words", () => {
  const compacted = { code: "compacted", before: 9_000, after: 1_000, method: "summary" } as const;
  const phase = { type: "phase", phase: "execution", step: 1, plan: ["look", "write"] };
  const told = [
    { type: "user_message", circle: { tools: ["read"], calls: 3 } },
    { type: "phase", phase: "reflection", round: 2 },
    phase,
  ].flatMap((event) => noticeOf(event as AgentEvent) ?? []);
  expect([
    phraseText(compacted, (count) => `${count / 1_000}k`),
    ...told.map((notice) => `${notice.level}: ${phraseText({ code: "notice", notice }, String)}`),
    retryText({ attempt: 2, until: 5_500, reason: "over\nloaded" }, 1_000),
  ]).toEqual([
    "Compacted from 9k to 1k tokens: the older part was summarized.",
    "warning: The model is repeating itself and has been warned. The last 3 calls of read had the same arguments and the same result.",
    "info: Reflection 2",
    "info: Step 1 of 2: look",
    "attempt 2 in 5 s: over loaded",
  ]);
});
