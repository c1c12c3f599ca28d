import { ReadableStream, TextEncoderStream } from "node:stream/web";
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { expect, expectTypeOf, test } from "vitest";
import { toServerSentEvents } from "../../src/adapters/frames.ts";
import type { UiMessageChunk } from "../../src/adapters/ui-message-stream.ts";
import { toUiMessageChunks, UI_MESSAGE_STREAM_HEADERS } from "../../src/adapters/ui-message-stream.ts";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { calls, fails, type ScriptStep, says, thinks } from "../../src/testing/script.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { all, tool } from "./conversation.ts";

function agentWith(steps: readonly ScriptStep[], options: Partial<AgentOptions> = {}): Agent {
  const tools = [
    tool("echo", { execute: () => "echoed" }),
    tool("pay", { execute: () => "paid", needsApproval: true }),
  ];
  return new Agent({ model: new ScriptedModel(steps), tools, sessionId: "s1", ...options });
}

/** What a page that uses the transport of the AI SDK ends up with. */
async function pageOf(
  agent: Agent,
): Promise<{ readonly message: UIMessage; readonly errors: readonly string[] }> {
  const body = ReadableStream.from(
    toServerSentEvents(toUiMessageChunks(agent.stream("go"), { messageId: "m1" }), { names: false }),
  ).pipeThrough(new TextEncoderStream());
  const transport = new DefaultChatTransport({
    api: "http://localhost/chat",
    fetch: async () => new Response(body, { headers: UI_MESSAGE_STREAM_HEADERS }),
  });
  const stream = await transport.sendMessages({
    trigger: "submit-message",
    chatId: "c1",
    messageId: undefined,
    messages: [],
    abortSignal: undefined,
  });
  const errors: string[] = [];
  const onError = (error: unknown): void =>
    void errors.push(error instanceof Error ? error.message : String(error));
  const states = await all(readUIMessageStream({ stream, onError }));
  const message = states.at(-1);
  if (message === undefined) throw new Error("The page got no message.");
  return { message, errors };
}

test("a page of the AI SDK shows reasoning, text, tool calls and steps of a run", async () => {
  const { message, errors } = await pageOf(
    agentWith([[thinks("hm"), says("I look."), calls("echo", { n: 1 }), calls("nope")], says("All done.")]),
  );
  expect(errors).toEqual([]);
  expect(message).toMatchObject({
    id: "m1",
    role: "assistant",
    metadata: { sessionId: "s1", stopReason: "completed", inputTokens: 200, outputTokens: 40 },
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "hm", state: "done" },
      { type: "text", text: "I look.", state: "done" },
      {
        type: "dynamic-tool",
        toolName: "echo",
        toolCallId: "call_1",
        state: "output-available",
        output: "echoed",
      },
      {
        type: "dynamic-tool",
        toolName: "nope",
        state: "output-error",
        errorText: expect.stringContaining("Unknown tool: nope"),
      },
      { type: "step-start" },
      { type: "text", text: "All done.", state: "done" },
    ],
  });
});

test("a call that waits for approval is asked about by the page, and the next run brings the answer", async () => {
  const agent = agentWith([calls("pay"), says("Paid.")], { onAsk: "pause" });
  const { message } = await pageOf(agent);
  expect(message.parts.at(-1)).toMatchObject({
    toolCallId: "call_1",
    state: "approval-requested",
    approval: { id: "call_1" },
  });
  const chunks = await all(toUiMessageChunks(agent.stream(undefined, { approvals: { call_1: true } })));
  expect(chunks.map(({ type }) => type)).toEqual([
    "start",
    "tool-output-available",
    "start-step",
    "text-start",
    "text-delta",
    "text-end",
    "finish-step",
    "finish",
  ]);
});

test("a failed run ends the page's message with its error", async () => {
  const { message, errors } = await pageOf(agentWith([[says("half"), fails("No route.")]]));
  expect(errors).toEqual(["No route."]);
  expect(message).toMatchObject({
    parts: [{}, { text: "half", state: "done" }],
    metadata: { stopReason: "error" },
  });
});

test("a run that was stopped is told as an abort", async () => {
  const agent = agentWith([
    () => {
      agent.stop();
      return says("late");
    },
  ]);
  const chunks = await all(toUiMessageChunks(agent.stream("go")));
  expect(chunks.map(({ type }) => type)).toEqual(["start", "start-step", "abort", "finish-step", "finish"]);
});

test("every chunk is one the AI SDK knows", () => {
  expectTypeOf<UiMessageChunk>().toExtend<UIMessageChunk>();
});
