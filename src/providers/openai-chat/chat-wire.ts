import { isRecord } from "../../core/base/json.ts";
import { answerError } from "../provider-errors.ts";
import type { Wire } from "../wire.ts";
import { ChatDecoder } from "./decode-chat.ts";
import { createChatEncoder } from "./encode-chat.ts";
import { learnChatQuirks } from "./learn-chat.ts";

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
