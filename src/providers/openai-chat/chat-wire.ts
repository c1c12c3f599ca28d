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
import { ChatDecoder } from "./decode-chat.ts";
import { createChatEncoder } from "./encode-chat.ts";
import { quirksOf } from "./quirks.ts";

/** OpenAI Chat Completions, as OpenAI and the many compatible vendors and local servers speak it. */
export const openAiChat: Wire = {
  name: "openai_chat",
  createEncoder: createChatEncoder,
  createDecoder: (emit, target) => new ChatDecoder(emit, target),
  toError: (answer) => answerError(answer),
  eventsIn: (document) =>
    isRecord(document) && Array.isArray(document["choices"]) && document["choices"].length > 0
      ? [JSON.stringify(document)]
      : undefined,
  learn: learnChatQuirks,
};

/** The quirks that a refused request has shown; `undefined` when the refusal is about something else. */
function learnChatQuirks(error: NanoAgentError, target: WireTarget): ShownQuirks | undefined {
  const words = refusalWords(error);
  if (words === undefined) return undefined;
  if (REASONING_WANTED.test(words)) return { reasoning_replay: "reasoning_content", require_reasoning: true };
  if (ROLE_REFUSED.test(words))
    return { system_role: quirksOf(target).system_role === "system" ? "developer" : "system" };
  const quirks = quirksOf(target);
  // Most often it is their place in the result of a tool that is refused.
  if (words.includes("cache_control")) return { cache_marks: quirks.cache_marks === "all" ? "user" : "none" };
  const field = refusedField(words, FIELDS);
  if (field === undefined) return undefined;
  const tokens = TOKEN_FIELDS.get(quirks.max_tokens_field);
  if (field === "max_tokens" || field === "max_completion_tokens")
    return tokens === undefined ? undefined : { max_tokens_field: tokens };
  return SHOWN.get(field) ?? omitting(field, target);
}

/** DeepSeek, Moonshot, and the gateways and servers that run their models. */
const REASONING_WANTED =
  /reasoning(?:_content|_text|_details)?\b[^.]{0,80}(?:missing|must be|required)|missing\b[^.]{0,20}reasoning/i;

const ROLE_REFUSED =
  /\brole\b[^.]{0,80}(?:developer|system)|(?:developer|system)\b[^.]{0,20} role|'(?:developer|system)' does not match/i;

const TOKEN_FIELDS: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "max_completion_tokens"],
  ["max_completion_tokens", "max_tokens"],
]);

/** Refused fields that a quirk of their own leaves out. */
const SHOWN: ReadonlyMap<string, ShownQuirks> = new Map([
  ["stream_options", { stream_usage: false }],
  ["prompt_cache_key", { prompt_cache_key: false }],
  ["reasoning_content", { reasoning_replay: "none", require_reasoning: false }],
  ["reasoning_details", { reasoning_replay: "none", require_reasoning: false }],
]);

/** Fields that a request may have. `max_tokens` first: its refusal names `max_completion_tokens`, too. */
const FIELDS: readonly string[] = [
  "stream_options",
  "parallel_tool_calls",
  "max_tokens",
  "max_completion_tokens",
  "prompt_cache_key",
  "reasoning_content",
  "reasoning_details",
  "reasoning_effort",
  "reasoning",
  "enable_thinking",
  "thinking",
  "tool_choice",
  "temperature",
  "top_p",
  "stop",
];
