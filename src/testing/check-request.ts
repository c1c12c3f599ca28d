import { isRecord } from "../core/base/json.ts";
import type { WireName } from "../core/message/block.ts";
import { checkAnthropicRequest } from "./check-anthropic-request.ts";
import { checkGoogleRequest } from "./check-google-request.ts";
import { checkOpenAiChatRequest } from "./check-openai-chat-request.ts";
import { checkOpenAiResponsesRequest } from "./check-openai-responses-request.ts";
import { Violations } from "./request-violations.ts";

/**
 * Requests that vendor refuse in a request, judged strictly by its documentation and known refusals: every tool call answered
 * exactly once and directly, ids unique, nothing empty that may not be, roles in order, well-formed text, valid tools.
 * One sentence each, with the place; empty for a request without fault. At most fifty.
 */
export function checkRequest(wire: WireName, body: unknown): readonly string[] {
  const found = new Violations();
  if (!isRecord(body)) {
    found.add("body", "is not a JSON object");
    return found.list;
  }
  found.text("body", body);
  switch (wire) {
    case "anthropic":
      checkAnthropicRequest(body, found);
      break;
    case "openai_chat":
      checkOpenAiChatRequest(body, found);
      break;
    case "openai_responses":
      checkOpenAiResponsesRequest(body, found);
      break;
    case "google":
      checkGoogleRequest(body, found);
      break;
  }
  return found.list;
}
