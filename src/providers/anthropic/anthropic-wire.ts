import { answerError } from "../provider-errors.ts";
import type { Wire } from "../wire.ts";
import { AnthropicDecoder } from "./decode-anthropic.ts";
import { createAnthropicEncoder } from "./encode-anthropic.ts";

/** The Messages API of Anthropic and of the servers that copied it. */
export const anthropicWire: Wire = {
  name: "anthropic",
  createEncoder: createAnthropicEncoder,
  createDecoder: (emit, target) => new AnthropicDecoder(emit, target),
  toError: (answer) => answerError(answer),
};
