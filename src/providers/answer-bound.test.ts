import { expect, test } from "vitest";
import type { StreamPart } from "../core/model/model.ts";
import { anthropicWire } from "./anthropic/anthropic-wire.ts";
import { AnswerLimit } from "./attempt.ts";
import { googleWire } from "./google/google-wire.ts";
import { openAiChat } from "./openai-chat/chat-wire.ts";
import { openAiResponses } from "./openai-responses/responses-wire.ts";
import type { Wire } from "./wire.ts";

const LONG = "x".repeat(1_000);
const target = { provider: "p", modelId: "m", baseUrl: "http://127.0.0.1" };
const tooLong = expect.objectContaining({
  code: "invalid_response",
  message: expect.stringContaining("longer"),
});

/** Gives a decoder events without end; returns how many it took. */
function takenEvents(createDecoder: Wire["createDecoder"], first: readonly object[], more: object): number {
  const bound = new AnswerLimit("p", 10_000);
  const decoder = createDecoder((part) => bound.countPart(part), target);
  const read = (event: object): void => {
    const data = JSON.stringify(event);
    const before = bound.chars;
    decoder.event("", data);
    bound.countEvent(data.length, bound.chars - before);
  };
  for (const event of first) read(event);
  let taken = 0;
  expect(() => {
    for (; taken < 10_000; taken++) read(more);
  }).toThrow(tooLong);
  return taken;
}

const anthropic = (block: object, delta: object) =>
  takenEvents(
    anthropicWire.createDecoder,
    [{ type: "content_block_start", index: 0, content_block: block }],
    {
      type: "content_block_delta",
      index: 0,
      delta,
    },
  );
const google = (part: object) =>
  takenEvents(googleWire.createDecoder, [], { candidates: [{ content: { parts: [part] } }] });
const chat = (delta: object) => takenEvents(openAiChat.createDecoder, [], { choices: [{ delta }] });

test.each<readonly [string, () => number]>([
  ["sources", () => anthropic({ type: "text" }, { type: "citations_delta", citation: { title: LONG } })],
  ["a signature", () => anthropic({ type: "thinking" }, { type: "signature_delta", signature: LONG })],
  [
    "arguments of a search",
    () => anthropic({ type: "server_tool_use" }, { type: "input_json_delta", partial_json: LONG }),
  ],
  [
    "blocks of the provider's own",
    () =>
      takenEvents(anthropicWire.createDecoder, [], {
        type: "content_block_start",
        content_block: { type: "web_search_tool_result", content: LONG },
      }),
  ],
  ["code it ran", () => google({ executableCode: { code: LONG } })],
  ["whole calls", () => google({ functionCall: { name: "t", args: { a: LONG } } })],
  ["signatures of parts", () => google({ text: "x", thoughtSignature: LONG })],
  ["annotations", () => chat({ annotations: [{ url: LONG }] })],
  ["hidden reasoning", () => chat({ reasoning_details: [{ type: "reasoning.encrypted", data: LONG }] })],
  ["calls without a name", () => chat({ tool_calls: [{ index: 0, function: { arguments: LONG } }] })],
  [
    "items that are only announced",
    () =>
      takenEvents(openAiResponses.createDecoder, [], {
        type: "response.output_item.added",
        item: { type: "web_search_call", query: LONG },
      }),
  ],
])("%s without end break an answer off", (_what, taken) => {
  expect(taken()).toBeLessThan(1_200);
});

test("an answer within its bound passes, however small its pieces and however often it is repeated", () => {
  const bound = new AnswerLimit("p", 10_000);
  const text = "\n".repeat(10_000);
  for (const piece of text) {
    bound.countPart({ type: "text_delta", index: 0, text: piece });
    bound.countEvent(1_000, piece.length);
  }
  for (let repeat = 0; repeat < 4; repeat++) bound.countEvent(2 * text.length, 0);
  const block: StreamPart = { type: "block", index: 0, block: { type: "text", text } };
  expect(() => bound.countPart(block)).not.toThrow();
  expect(() => bound.countPart({ type: "text_delta", index: 1, text: "x" })).toThrow(tooLong);
});

test("a block that the journal could not write is refused, and arguments as deep as they may be are not", () => {
  const bound = new AnswerLimit("p", 10_000);
  const nested = (levels: number) =>
    JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`) as readonly never[];
  const call = { type: "tool_use", id: "c", name: "t", input: { list: nested(499) } } as const;
  expect(() => bound.countPart({ type: "block", index: 0, block: call })).not.toThrow();
  const block = { type: "text", text: "", provider_data: { google: { item: nested(50_000) } } } as const;
  expect(() => bound.countPart({ type: "block", index: 1, block })).toThrow(/nested deeper than 510 levels/);
});
