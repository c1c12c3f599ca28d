import { answerError } from "../provider-errors.ts";
import type { Wire } from "../wire.ts";
import { createAnthropicDecoder } from "./decode-anthropic.ts";
import { createAnthropicEncoder } from "./encode-anthropic.ts";

/** The Messages API of Anthropic and of the servers that copied it. */
export const anthropicWire: Wire = {
  name: "anthropic",
  createEncoder: createAnthropicEncoder,
  createDecoder: createAnthropicDecoder,
  toError: (answer) => answerError(answer),
};
