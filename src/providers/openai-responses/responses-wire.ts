import type { NanoAgentError } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import { answerError } from "../provider-errors.ts";
import {
  omitting,
  refusalWords,
  refusedField,
  type ShownQuirks,
  type Wire,
  type WireTarget,
} from "../wire.ts";
import { ResponsesDecoder } from "./decode-responses.ts";
import { createResponsesEncoder } from "./encode-responses.ts";

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

/** The quirks that a refused request has shown; `undefined` when the refusal is about something else. */
function learnResponsesQuirks(error: NanoAgentError, target: WireTarget): ShownQuirks | undefined {
  const words = refusalWords(error);
  const field = words === undefined ? undefined : refusedField(words, FIELDS);
  if (field === undefined) return undefined;
  return field === "include" || field === "encrypted_content"
    ? { encrypted_reasoning: false }
    : omitting(field, target);
}

/** Fields that a request may have and that servers with the same format may not know. */
const FIELDS: readonly string[] = [
  "encrypted_content",
  "include",
  "prompt_cache_key",
  "parallel_tool_calls",
  "max_output_tokens",
  "tool_choice",
  "top_p",
  "reasoning",
  "temperature",
  "store",
];
