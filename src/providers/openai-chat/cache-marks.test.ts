import { describe, expect, it } from "vitest";
import { TEST_TARGET } from "../../../test/replay-stream.ts";
import { assistantMessage, userMessage } from "../../core/message/message.ts";
import type { ModelRequest } from "../../core/model/model.ts";
import type { WireTarget } from "../wire.ts";
import { openAiChat } from "./chat-wire.ts";

const call = { type: "tool_use", id: "call_1", name: "read", input: { path: "a" } } as const;

function messagesOf(request: ModelRequest, target: Partial<WireTarget> = {}): unknown {
  return JSON.parse(openAiChat.createEncoder({ ...TEST_TARGET, ...target })(request).body).messages;
}

describe("marks for caching", () => {
  const mark = { type: "ephemeral" };
  const turn = (id: string): ModelRequest["messages"] => [
    assistantMessage([{ ...call, id }]),
    userMessage([{ type: "tool_result", tool_use_id: id, content: `seen ${id}` }]),
  ];
  const request: ModelRequest = {
    system: "Be brief.",
    messages: [userMessage("hi"), ...turn("a"), ...turn("b")],
  };
  const user = { role: "user", content: "hi" };
  const result = (id: string, isMarked: boolean): object => ({
    role: "tool",
    tool_call_id: id,
    content: isMarked ? [{ type: "text", text: `seen ${id}`, cache_control: mark }] : `seen ${id}`,
  });
  const system = { role: "system", content: [{ type: "text", text: "Be brief.", cache_control: mark }] };

  it.each(["anthropic/claude-sonnet-4.5", "claude-opus-5", "eu.anthropic.claude-sonnet-4-6-v1:0"])(
    "are on the system prompt and the two newest messages of the user for %s",
    (modelId) => {
      const sent = messagesOf(request, { modelId }) as readonly { readonly role: string }[];
      expect(sent.filter(({ role }) => role !== "assistant")).toEqual([
        system,
        user,
        result("a", true),
        result("b", true),
      ]);
    },
  );

  it("stay off results where a gateway refuses them there, and off everything for other models", () => {
    const sent = (target: Partial<WireTarget>): unknown => messagesOf(request, target);
    const quirks = { cache_marks: "user" };
    expect(sent({ modelId: "claude-opus-5", quirks })).toMatchObject([
      system,
      user,
      {},
      result("a", false),
      {},
      {},
    ]);
    expect(JSON.stringify(sent({ modelId: "gpt-5.5" }))).not.toContain("cache_control");
  });

  it("leave the text before them as it is from request to request", () => {
    const encode = openAiChat.createEncoder({ ...TEST_TARGET, modelId: "claude-opus-5" });
    const unmarked = (body: string): string =>
      body.replaceAll(/\[\{"type":"text","text":("[^"]*"),"cache_control":\{"type":"ephemeral"\}\}\]/g, "$1");
    const messages = [...request.messages];
    for (const id of ["c", "d", "e"]) {
      const before = unmarked(encode({ ...request, messages: messages.slice() }).body);
      messages.push(...turn(id));
      const after = unmarked(encode({ ...request, messages: messages.slice() }).body);
      const shared = before.slice(0, before.indexOf("]", before.lastIndexOf("seen")));
      expect(after.startsWith(shared)).toBe(true);
      const fresh = openAiChat.createEncoder({ ...TEST_TARGET, modelId: "claude-opus-5" });
      expect(unmarked(fresh({ ...request, messages }).body)).toBe(after);
    }
  });

  it("keep the parts of a message with an image", () => {
    const image = { type: "image", source: { type: "url", url: "https://x.example/a.png" } } as const;
    const sent = messagesOf(
      { messages: [userMessage([{ type: "text", text: "Look" }, image])] },
      { modelId: "claude-opus-5" },
    );
    expect(sent).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Look", cache_control: mark },
          { type: "image_url", image_url: { url: "https://x.example/a.png" } },
        ],
      },
    ]);
  });
});
