import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { WireName } from "../../src/core/message/message.ts";
import { resolveModel } from "../../src/providers/resolve-model.ts";
import { importSession } from "../../src/session/import/import-session.ts";
import { readSession } from "../../src/session/read-session.ts";
import { replaySession } from "../../src/session/replay/replay-session.ts";
import { SessionStore } from "../../src/session/session-store.ts";
import { says } from "../../src/testing/script.ts";
import { startScriptedServer } from "../../src/testing/scripted-server.ts";
import { tempFolder } from "../temp-folder.ts";

const MODELS: readonly (readonly [WireName, name: string, base: string])[] = [
  ["anthropic", "anthropic/claude-sonnet-4-5", "/v1"],
  ["openai_chat", "openai-chat/gpt-4.1", "/v1"],
  ["openai_responses", "openai-responses/gpt-5", "/v1"],
  ["google", "google/gemini-2.5-pro", "/v1beta"],
];

const PNG = "iVBORw0KGgo=";
const user = (uuid: string, parentUuid: string | null, content: unknown): object => ({
  type: "user",
  uuid,
  parentUuid,
  message: { role: "user", content },
});
const assistant = (uuid: string, parentUuid: string, id: string, ...content: readonly object[]): object => ({
  type: "assistant",
  uuid,
  parentUuid,
  message: { id, role: "assistant", content },
});
const item = (payload: object): object => ({
  timestamp: "2026-01-01T00:00:00Z",
  type: "response_item",
  payload,
});
const entry = (id: string, parentId: string | null, message: object): object => ({
  type: "message",
  id,
  parentId,
  message,
});

/** Session files with what goes wrong in real ones. */
const FILES: { readonly [program: string]: readonly object[] } = {
  "claude-code": [
    user("1", null, "Look around"),
    assistant(
      "2",
      "1",
      "m1",
      { type: "thinking", thinking: "Hm", signature: "c2ln" },
      { type: "text", text: " \n" },
    ),
    assistant("3", "2", "m1", { type: "tool_use", id: "toolu_1", name: "Read file", input: { path: "a" } }),
    assistant("4", "3", "m1", { type: "tool_use", id: "toolu_2", name: "Bash", input: {} }),
    user("5", "3", [
      {
        type: "tool_result",
        tool_use_id: "toolu_1",
        content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: PNG } }],
      },
    ]),
    user("6", "4", [
      { type: "tool_result", tool_use_id: "nobody", content: "stray" },
      { type: "text", text: "[Request interrupted by user]" },
    ]),
    assistant("7", "6", "m2", { type: "redacted_thinking", data: "eHh4" }, { type: "text", text: "I stop." }),
    user("8", "7", [
      { type: "image", source: { type: "base64", media_type: "image/svg+xml", data: "PHN2Zz4=" } },
    ]),
  ],
  codex: [
    item({ type: "message", role: "user", content: [{ type: "input_text", text: "Go \ud800 on" }] }),
    item({ type: "reasoning", summary: [{ type: "summary_text", text: "Well" }] }),
    item({ type: "function_call", name: "shell", arguments: "{broken", call_id: "c/1" }),
    item({ type: "function_call", name: "shell", arguments: "{}", call_id: "c/1" }),
    item({ type: "function_call_output", call_id: "c/1", output: "" }),
    item({ type: "function_call", name: "", arguments: '{"a":1}', call_id: "" }),
  ],
  pi: [
    { type: "session", id: "s", timestamp: "2026-01-01T00:00:00Z", cwd: "/w" },
    entry("1", null, { role: "user", content: [{ type: "image", data: PNG, mimeType: "image/png" }] }),
    entry("2", "1", {
      role: "assistant",
      provider: "google",
      model: "gemini-2.5-pro",
      api: "google-generative-ai",
      stopReason: "toolUse",
      content: [
        { type: "thinking", thinking: "Hm", thinkingSignature: "g" },
        { type: "toolCall", id: "a|b+c/d=".repeat(20), name: "bash", arguments: { command: "ls" } },
      ],
    }),
    entry("3", "2", {
      role: "toolResult",
      toolCallId: "a|b+c/d=".repeat(20),
      toolName: "bash",
      content: [],
      isError: true,
    }),
    entry("4", "3", { role: "bashExecution", command: "pwd", output: "/w" }),
    entry("5", "4", {
      role: "assistant",
      provider: "openai",
      model: "gpt-5",
      stopReason: "aborted",
      content: [],
    }),
  ],
};

describe.each(MODELS)("on the wire %s", (wire, name, base) => {
  it.each(Object.keys(FILES))(
    "a session of %s goes on, with a request the vendor accepts",
    async (program) => {
      const folder = tempFolder();
      const file = join(folder, "foreign.jsonl");
      writeFileSync(file, (FILES[program] ?? []).map((line) => `${JSON.stringify(line)}\n`).join(""));
      const store = new SessionStore(join(folder, "sessions"));
      const report = await importSession(store, file, { cwd: folder });
      expect([report.program, report.damaged]).toEqual([program, []]);
      expect(await replaySession(readSession(report.path).entries)).toMatchObject({
        same: true,
        differences: [],
      });

      const server = await startScriptedServer([says("Going on.")]);
      onTestFinished(() => server.close());
      const journal = await store.resume(store.find(report.sessionId, folder));
      const model = resolveModel(name, { baseUrl: server.url + base, apiKey: "key" });
      const result = await new Agent({ model, journal }).run("And now?");
      await journal.close();
      expect([result.error, result.text]).toEqual([undefined, "Going on."]);
      expect(server.requests.map((request) => [request.wire, request.violations])).toEqual([[wire, []]]);
      server.assertFinished();
    },
  );
});
