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
import { AnthropicDecoder } from "./decode-anthropic.ts";
import { createAnthropicEncoder } from "./encode-anthropic.ts";

/** The Messages API of Anthropic and of the servers that copied it. */
export const anthropicWire: Wire = {
  name: "anthropic",
  createEncoder: createAnthropicEncoder,
  createDecoder: (emit, target) => new AnthropicDecoder(emit, target),
  toError: (answer) => answerError(answer),
  eventsIn: (document) => {
    if (!isRecord(document) || !Array.isArray(document["content"])) return undefined;
    const { content, stop_reason, stop_details, usage } = document;
    const blocks = (content as readonly unknown[]).flatMap((content_block, index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_stop", index },
    ]);
    const end = { type: "message_delta", delta: { stop_reason, stop_details }, usage };
    const events = [{ type: "message_start", message: document }, ...blocks, end, { type: "message_stop" }];
    return events.map((event) => JSON.stringify(event));
  },
  learn: learnAnthropicQuirks,
};

/** The quirks that a refused request has shown; `undefined` when the refusal is about something else. */
function learnAnthropicQuirks(error: NanoAgentError, target: WireTarget): ShownQuirks | undefined {
  const words = refusalWords(error);
  const field = words === undefined ? undefined : refusedField(words, FIELDS);
  if (field === undefined) return undefined;
  return field === "cache_control" ? { cache: false } : omitting(field, target);
}

/** Fields that a request may have and that servers with the same format may not know. */
const FIELDS: readonly string[] = [
  "cache_control",
  "output_config",
  "tool_choice",
  "top_p",
  "thinking",
  "temperature",
];
