import { type Fields, isRecord } from "../core/base/json.ts";
import type { WireName } from "../core/message/message.ts";
import { checkAnthropicRequest } from "./check-anthropic-request.ts";
import { checkGoogleRequest } from "./check-google-request.ts";
import { checkOpenAiChatRequest } from "./check-openai-chat-request.ts";
import { checkOpenAiResponsesRequest } from "./check-openai-responses-request.ts";
import { Violations } from "./request-violations.ts";

/**
 * The faults a vendor would refuse a request for, judged strictly by its documentation and known refusals:
 * every tool call answered exactly once and directly, ids unique, nothing empty that may not be, roles in
 * order, well-formed text, valid tools. One sentence each, with the place; empty for a request without fault.
 * At most fifty.
 */
export function checkRequest(wire: WireName, body: unknown): readonly string[] {
  const found = new Violations();
  if (!isRecord(body)) {
    found.add("body", "is not a JSON object");
    return found.list;
  }
  found.text("body", body);
  CHECKS[wire](body, found);
  return found.list;
}

const CHECKS: { readonly [W in WireName]: (body: Fields, found: Violations) => void } = {
  anthropic: checkAnthropicRequest,
  openai_chat: checkOpenAiChatRequest,
  openai_responses: checkOpenAiResponsesRequest,
  google: checkGoogleRequest,
};
