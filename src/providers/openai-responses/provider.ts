import { answerError } from "../errors.ts";
import type { Wire } from "../wire.ts";
import { createResponsesDecoder } from "./decode.ts";
import { createResponsesEncoder } from "./encode.ts";

/** The OpenAI Responses API, used without storage at the provider. */
export const openAiResponses: Wire = {
  name: "openai_responses",
  createEncoder: createResponsesEncoder,
  createDecoder: createResponsesDecoder,
  toError: (answer) => answerError(answer),
};
