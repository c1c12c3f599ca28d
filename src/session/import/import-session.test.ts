import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../../test/temp-folder.ts";
import { SessionState } from "../../core/agent/state.ts";
import type { Message } from "../../core/message/message.ts";
import { readSession } from "../read-session.ts";
import { SessionStore } from "../session-store.ts";
import { type ImportReport, importSession } from "./import-session.ts";

const PNG = "iVBORw0KGgo=";

async function imported(
  lines: readonly (object | string)[],
): Promise<{ readonly report: ImportReport; readonly messages: readonly Message[] }> {
  const folder = tempFolder();
  const file = join(folder, "foreign.jsonl");
  writeFileSync(
    file,
    lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
  );
  const report = await importSession(new SessionStore(join(folder, "sessions")), file, {
    cwd: folder,
    sessionId: "new",
  });
  const state = new SessionState();
  for (const entry of readSession(report.path).entries) state.apply(entry);
  return { report, messages: state.transcript.messages };
}

let count = 0;
const claude = (
  type: "user" | "assistant",
  parent: string | null,
  message: object,
  more: object = {},
): object => ({
  type,
  uuid: `u${++count}`,
  parentUuid: parent,
  isSidechain: false,
  sessionId: "there",
  cwd: "/home/somebody/project",
  timestamp: "2026-01-01T10:00:00.000Z",
  message,
  ...more,
});

test("a session of Claude Code: an answer over several lines, parallel calls beside the way, an image, a lost line", async () => {
  count = 0;
  const { report, messages } = await imported([
    { type: "summary", summary: "Tests", leafUuid: "u7" },
    claude("user", null, { role: "user", content: "Look at it" }),
    claude("assistant", "u1", {
      id: "m1",
      model: "claude-sonnet-4-5",
      content: [{ type: "thinking", thinking: "Well", signature: "c2ln" }],
      usage: {
        input_tokens: 3,
        cache_read_input_tokens: 90,
        cache_creation_input_tokens: 7,
        output_tokens: 1,
      },
    }),
    claude("assistant", "u2", {
      id: "m1",
      model: "claude-sonnet-4-5",
      content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }],
      usage: {
        input_tokens: 3,
        cache_read_input_tokens: 90,
        cache_creation_input_tokens: 7,
        output_tokens: 20,
      },
    }),
    claude("assistant", "u3", {
      id: "m1",
      model: "claude-sonnet-4-5",
      content: [{ type: "tool_use", id: "t2", name: "mcp__x.y/Read", input: {} }],
    }),
    claude("user", "u3", {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t1", content: "a.png", is_error: false }],
    }),
    claude("user", "u4", {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "t2",
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }],
        },
      ],
    }),
    '{"type":"user","uu',
    claude("assistant", "u6", {
      id: "m2",
      model: "claude-sonnet-4-5",
      content: [{ type: "text", text: "A picture." }],
    }),
    claude(
      "assistant",
      "u6",
      { id: "m3", content: [{ type: "text", text: "said by a subagent" }] },
      { isSidechain: true },
    ),
    { type: "of-tomorrow" },
  ]);
  expect(messages).toEqual([
    { role: "user", content: [{ type: "text", text: "Look at it" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Well", signature: "c2ln" },
        { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } },
        { type: "tool_use", id: "t2", name: "mcp__x_y_Read", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "t1", content: "a.png" },
        {
          type: "tool_result",
          tool_use_id: "t2",
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }],
        },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "A picture." }] },
  ]);
  expect(report).toMatchObject({
    program: "claude-code",
    inputs: 1,
    answers: 2,
    calls: 2,
    damaged: [{ line: 8, reason: "no JSON" }],
    unknown: { "record of-tomorrow": 1 },
    leftOut: { "records of type summary": 1, "messages of subagents": 1 },
    repairs: { unansweredCalls: 0, strayResults: 0, renamedCalls: 0, emptyAnswers: 0 },
  });
  const content = readSession(report.path);
  expect(content.header?.importedFrom).toEqual({
    program: "claude-code",
    sessionId: "there",
    cwd: "/home/somebody/project",
  });
  const answer = content.entries.find((entry) => entry.type === "assistant_message");
  expect(answer).toMatchObject({
    time: Date.parse("2026-01-01T10:00:00.000Z"),
    usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 90 },
  });
  expect(statSync(report.path).mode & 0o777).toBe(0o600);
});

test("of a session of Claude Code the branch that was worked on last, from its compaction on", async () => {
  count = 0;
  const { report, messages } = await imported([
    claude("user", null, { content: "old" }),
    claude("assistant", "u1", { id: "m1", content: [{ type: "text", text: "old answer" }] }),
    claude("user", null, { content: "Summary of it all" }, { isCompactSummary: true }),
    claude("user", "u3", { content: "a wrong turn" }),
    claude("user", "u3", { content: "the right one" }),
  ]);
  expect(messages.map(({ content }) => content)).toEqual([
    [{ type: "text", text: "Summary of it all" }],
    [{ type: "text", text: "the right one" }],
  ]);
  expect(report.leftOut).toEqual({ "messages of other branches, or before a compaction": 3 });
});

const codex = (type: string, payload: object): object => ({
  timestamp: "2026-02-02T08:00:00.000Z",
  type,
  payload,
});

test("a session of Codex: calls as items, usage behind the answer, a turn that was taken back", async () => {
  const { report, messages } = await imported([
    codex("session_meta", { id: "there", cwd: "/w", model_provider: "openai" }),
    codex("turn_context", { model: "gpt-5-codex" }),
    codex("response_item", {
      type: "message",
      role: "developer",
      content: [{ type: "input_text", text: "Be good" }],
    }),
    codex("response_item", {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "<environment_context>…" }],
    }),
    codex("response_item", {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "Go" },
        { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
      ],
    }),
    codex("event_msg", { type: "user_message", message: "Go" }),
    codex("response_item", {
      type: "reasoning",
      summary: [{ type: "summary_text", text: "Think" }],
      encrypted_content: "xxx",
    }),
    codex("response_item", {
      type: "function_call",
      name: "shell",
      arguments: '{"command":["ls"]}',
      call_id: "c1",
    }),
    codex("response_item", {
      type: "custom_tool_call",
      name: "apply_patch",
      input: "*** Begin",
      call_id: "c2",
    }),
    codex("event_msg", {
      type: "token_count",
      info: {
        total_token_usage: { total_tokens: 12 },
        last_token_usage: {
          input_tokens: 10,
          cached_input_tokens: 4,
          output_tokens: 2,
          reasoning_output_tokens: 1,
        },
      },
    }),
    codex("response_item", { type: "function_call_output", call_id: "c1", output: "files" }),
    codex("response_item", {
      type: "custom_tool_call_output",
      call_id: "c2",
      output: { content: "no", success: false },
    }),
    codex("response_item", {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "Done." }],
    }),
    codex("response_item", {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "mistake" }],
    }),
    codex("response_item", {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "what?" }],
    }),
    codex("event_msg", { type: "thread_rolled_back", num_turns: 1 }),
    codex("response_item", { type: "telepathy" }),
  ]);
  expect(messages).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "Go" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Think" },
        { type: "tool_use", id: "c1", name: "shell", input: { command: ["ls"] } },
        { type: "tool_use", id: "c2", name: "apply_patch", input: { input: "*** Begin" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: "files" },
        { type: "tool_result", tool_use_id: "c2", content: "no", is_error: true },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "Done." }] },
  ]);
  expect(report).toMatchObject({
    program: "codex",
    unknown: { "item telepathy": 1 },
    leftOut: {
      "instructions of the program": 1,
      "context of the program": 1,
      "turns that were undone": 1,
    },
  });
  expect(readSession(report.path).entries.find((entry) => entry.type === "assistant_message")).toMatchObject({
    model: "openai/gpt-5-codex",
    usage: { inputTokens: 10, cacheReadTokens: 4, outputTokens: 2, reasoningTokens: 1 },
  });
});

test("a session of Codex of the old kind, without envelopes, and one that was compacted", async () => {
  const old = await imported([
    { id: "there", timestamp: "2025-06-01T00:00:00Z", instructions: null },
    { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] },
    { record_type: "state" },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello" }] },
  ]);
  expect(old.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  const compacted = await imported([
    codex("response_item", {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "long ago" }],
    }),
    codex("compacted", { message: "It was long." }),
  ]);
  expect(compacted.messages).toEqual([{ role: "user", content: [{ type: "text", text: "It was long." }] }]);
});

test("a session of pi: the branch of the last entry, what a compaction kept, a call without a result", async () => {
  const entry = (id: string, parentId: string | null, fields: object): object => ({
    id,
    parentId,
    timestamp: "2026-03-03T08:00:00.000Z",
    ...fields,
  });
  const says = (role: string, content: unknown, more: object = {}): object => ({
    type: "message",
    message: { role, content, ...more },
  });
  const { report, messages } = await imported([
    { type: "session", version: 3, id: "there", timestamp: "2026-03-03T08:00:00.000Z", cwd: "/w" },
    entry("a", null, says("user", "one")),
    entry(
      "b",
      "a",
      says("assistant", [{ type: "text", text: "two" }], {
        provider: "openai",
        model: "gpt-5",
        api: "openai-responses",
        stopReason: "stop",
      }),
    ),
    entry(
      "c",
      "b",
      says("user", [
        { type: "text", text: "three" },
        { type: "image", data: PNG, mimeType: "image/png" },
      ]),
    ),
    entry("x", "b", says("user", "another branch")),
    entry("d", "c", { type: "compaction", summary: "It began.", firstKeptEntryId: "c", tokensBefore: 9 }),
    entry(
      "e",
      "d",
      says(
        "assistant",
        [
          { type: "thinking", thinking: "hm", thinkingSignature: "sig" },
          { type: "toolCall", id: "t|1", name: "bash", arguments: { command: "ls" } },
        ],
        {
          provider: "anthropic",
          model: "claude-sonnet-4-5",
          api: "anthropic-messages",
          stopReason: "aborted",
          usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: { total: 0.5 } },
        },
      ),
    ),
    entry("f", "e", { type: "label", label: "here" }),
  ]);
  expect(messages).toEqual([
    { role: "user", content: [{ type: "text", text: "It began." }] },
    {
      role: "user",
      content: [
        { type: "text", text: "three" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "sig" },
        { type: "tool_use", id: "t|1", name: "bash", input: { command: "ls" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "t|1", content: "interrupted, outcome unknown", is_error: true },
      ],
    },
  ]);
  expect(report).toMatchObject({ program: "pi", repairs: { unansweredCalls: 1 } });
  expect(readSession(report.path).entries.find((each) => each.type === "assistant_message")).toMatchObject({
    model: "anthropic/claude-sonnet-4-5",
    costUsd: 0.5,
    usage: { inputTokens: 8, outputTokens: 2 },
  });
});
