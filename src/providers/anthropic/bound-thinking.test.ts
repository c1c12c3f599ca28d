import { expect, test } from "vitest";
import type { ModelRequest } from "../../core/model/model.ts";
import type { WireTarget } from "../wire.ts";
import { createAnthropicEncoder } from "./encode-anthropic.ts";

test.each([
  ["claude-opus-5-5", true],
  ["claude-sonnet-5-5", true],
  ["claude-haiku-5-5", true],
  ["claude-fable-5-1", true],
  ["claude-fable-5", false],
  ["claude-opus-5", false],
])("%s drops thinking that a changed conversation no longer fits: %s", (modelId, isBound) => {
  const binding = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };
  const beta = "thinking-binding-controls-2026-08-01";
  const sent = (to: WireTarget, request: Partial<ModelRequest> = {}): unknown => {
    const { headers, body } = createAnthropicEncoder(to)({ messages: [], ...request });
    return [headers["anthropic-beta"], (JSON.parse(body) as { thinking?: unknown }).thinking];
  };
  const own: WireTarget = { provider: "anthropic", modelId, baseUrl: "https://api.anthropic.com/v1" };
  expect(sent(own)).toEqual(isBound ? [beta, binding] : [undefined, undefined]);
  expect(sent(own, { effort: "low" })).toEqual([
    isBound ? beta : undefined,
    { ...(isBound ? binding : { type: "adaptive" }), display: "summarized" },
  ]);
  expect(sent({ ...own, headers: { "anthropic-beta": "mine" } })).toEqual(["mine", undefined]);
  expect(sent({ ...own, baseUrl: "https://gateway.example" })).toEqual([undefined, undefined]);
});
