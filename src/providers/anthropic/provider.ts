import { answerError } from "../errors.ts";
import type { Wire } from "../wire.ts";
import { createAnthropicDecoder } from "./decode.ts";
import { createAnthropicEncoder } from "./encode.ts";

/** The Messages API of Anthropic and of the servers that copied it. */
export const anthropicWire: Wire = {
  name: "anthropic",
  createEncoder: createAnthropicEncoder,
  createDecoder: createAnthropicDecoder,
  toError: (answer) => answerError(answer),
};
