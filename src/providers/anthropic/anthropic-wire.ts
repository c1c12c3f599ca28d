import { isRecord } from "../../core/base/json.ts";
import { answerError } from "../provider-errors.ts";
import type { Wire } from "../wire.ts";
import { AnthropicDecoder } from "./decode-anthropic.ts";
import { createAnthropicEncoder } from "./encode-anthropic.ts";
import { learnAnthropicQuirks } from "./learn-anthropic.ts";

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
