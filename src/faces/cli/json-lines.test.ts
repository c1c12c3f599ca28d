import { expect, test } from "vitest";
import type { EventLine } from "../../../test/e2e/event-schema.ts";
import { Agent } from "../../agent/agent.ts";
import type { AgentEvent } from "../../core/agent/entries.ts";
import { NanoAgentError, recordedError } from "../../core/base/errors.ts";
import { defineTool } from "../../core/tool/tool.ts";
import { calls, says, thinks } from "../../testing/script.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { EventLines } from "./json-lines.ts";

async function eventsOf(model: ScriptedModel): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  const slow = Promise.withResolvers<void>();
  const tool = defineTool({
    name: "wait",
    description: "waits",
    parameters: { type: "object", properties: { for: { type: "string" } }, required: ["for"] } as const,
    execute: async (input) => {
      if (input.for === "slow") await slow.promise;
      return input.for;
    },
  });
  const agent = new Agent({ model, tools: [tool] });
  await agent.run("go", {
    onEvent: (event) => {
      events.push(event);
      if (event.type === "tool_result") slow.resolve();
    },
  });
  return events;
}

function linesOf(events: readonly AgentEvent[], partial = false): readonly EventLine[] {
  const lines = new EventLines({ partial });
  return events.flatMap((event) => lines.lines(event)) as unknown as readonly EventLine[];
}

test("results are told in call order, however the calls end", async () => {
  const events = await eventsOf(
    new ScriptedModel([
      [calls("wait", { for: "slow" }, "a"), calls("wait", { for: "fast" }, "b")],
      says("done"),
    ]),
  );
  const ended = events.flatMap((event) => (event.type === "tool_result" ? [event.callId] : []));
  const told = linesOf(events).flatMap((line) =>
    line.type === "user" ? line.message.content.map((block) => block.tool_use_id) : [],
  );
  expect({ ended, told }).toEqual({ ended: ["b", "a"], told: ["a", "b"] });
});

test("blocks carry standard fields only, and cached tokens are not counted as plain input", () => {
  const entry: AgentEvent = {
    type: "assistant_message",
    id: "entry_1",
    parent: null,
    time: 0,
    model: "p/m",
    finishReason: { unified: "length", raw: "max_tokens" },
    usage: { inputTokens: 100, outputTokens: 7, cacheReadTokens: 60, cacheWriteTokens: 30 },
    durationMs: 1,
    message: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "s", provider_data: { google: { x: 1 } } },
        { type: "thinking", thinking: "", redacted: "r" },
        { type: "text", text: "t", provider_data: { google: { x: 1 } } },
        { type: "tool_use", id: "c", name: "n", input: {}, invalid_input: { reason: "truncated", raw: "{" } },
      ],
    },
  };
  expect(linesOf([entry])).toEqual([
    {
      type: "assistant",
      message: {
        id: "entry_1",
        type: "message",
        role: "assistant",
        model: "p/m",
        content: [
          { type: "thinking", thinking: "hm", signature: "s" },
          { type: "redacted_thinking", data: "r" },
          { type: "text", text: "t" },
          { type: "tool_use", id: "c", name: "n", input: {} },
        ],
        stop_reason: "max_tokens",
        stop_sequence: null,
        usage: {
          input_tokens: 10,
          output_tokens: 7,
          cache_read_input_tokens: 60,
          cache_creation_input_tokens: 30,
        },
      },
      parent_tool_use_id: null,
    },
  ]);
});

test("partial events nest: message, block, deltas", async () => {
  const events = await eventsOf(
    new ScriptedModel([[thinks("Hm."), says("Look."), calls("wait", { for: "fast" }, "a")], says("done")]),
  );
  const shape = linesOf(events, true).flatMap((line) =>
    line.type === "stream_event" ? [`${line.event.type} ${String(line.event.index ?? "")}`.trim()] : [],
  );
  const isDelta = (word: string): boolean => word.startsWith("content_block_delta");
  expect(shape.filter((word, at) => !isDelta(word) || !isDelta(shape[at - 1] ?? ""))).toEqual([
    "message_start",
    ...[0, 1, 2].flatMap((at) => [
      `content_block_start ${at}`,
      `content_block_delta ${at}`,
      `content_block_stop ${at}`,
    ]),
    "message_delta",
    "message_stop",
    "message_start",
    "content_block_start 0",
    "content_block_delta 0",
    "content_block_stop 0",
    "message_delta",
    "message_stop",
  ]);
});

test("after a retry the message starts again", () => {
  const error = recordedError(new NanoAgentError("network", "gone"));
  const lines = linesOf(
    [
      { type: "text_delta", index: 0, text: "a" },
      { id: "entry_1", parent: null, time: 0, type: "retry", attempt: 2, delayMs: 5, error },
      { type: "text_delta", index: 0, text: "b" },
    ],
    true,
  );
  expect(lines.map((line) => (line.type === "stream_event" ? line.event.type : line))).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    {
      type: "system",
      subtype: "api_retry",
      attempt: 2,
      retry_delay_ms: 5,
      error: { code: "network", message: "gone" },
    },
    "message_start",
    "content_block_start",
    "content_block_delta",
  ]);
});
