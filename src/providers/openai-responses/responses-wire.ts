import { answerError } from "../provider-errors.ts";
import type { Wire } from "../wire.ts";
import { ResponsesDecoder } from "./decode-responses.ts";
import { createResponsesEncoder } from "./encode-responses.ts";

/** The OpenAI Responses API, used without storage at the provider. */
export const openAiResponses: Wire = {
  name: "openai_responses",
  createEncoder: createResponsesEncoder,
  createDecoder: (emit, target) => new ResponsesDecoder(emit, target),
  toError: (answer) => answerError(answer),
};
