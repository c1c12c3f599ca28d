import { isRecord } from "../../core/base/json.ts";
import { answerError } from "../provider-errors.ts";
import type { Wire } from "../wire.ts";
import { ResponsesDecoder } from "./decode-responses.ts";
import { createResponsesEncoder } from "./encode-responses.ts";
import { learnResponsesQuirks } from "./learn-responses.ts";

/** The OpenAI Responses API, used without storage at the provider. */
export const openAiResponses: Wire = {
  name: "openai_responses",
  createEncoder: createResponsesEncoder,
  createDecoder: (emit, target) => new ResponsesDecoder(emit, target),
  toError: (answer) => answerError(answer),
  eventsIn: (document) => {
    if (!isRecord(document) || !Array.isArray(document["output"])) return undefined;
    const { status = "completed" } = document;
    return [JSON.stringify({ type: `response.${String(status)}`, response: document })];
  },
  learn: learnResponsesQuirks,
};
