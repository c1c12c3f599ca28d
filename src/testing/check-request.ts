import { isRecord } from "../core/base/json.ts";
import type { WireName } from "../core/message/message.ts";
import { anthropicVendor } from "./anthropic-vendor.ts";
import { googleVendor } from "./google-vendor.ts";
import { openAiChatVendor } from "./openai-chat-vendor.ts";
import { openAiResponsesVendor } from "./openai-responses-vendor.ts";
import { Violations } from "./request-violations.ts";
import type { Vendor } from "./vendor.ts";

export const VENDORS: { readonly [W in WireName]: Vendor } = {
  anthropic: anthropicVendor,
  openai_chat: openAiChatVendor,
  openai_responses: openAiResponsesVendor,
  google: googleVendor,
};

/**
 * Lists the faults for which a vendor would refuse a request, judged strictly by its documentation and known
 * refusals: every tool call answered exactly once and directly, unique ids, nothing empty that must not be,
 * roles in order, well-formed text, valid tools. One sentence each, with the place, at most fifty; empty for
 * a valid request.
 */
export function checkRequest(wire: WireName, body: unknown): readonly string[] {
  const issues = new Violations();
  if (isRecord(body)) {
    issues.checkText("body", body);
    VENDORS[wire].check(body, issues);
  } else issues.add("body", "is not a JSON object");
  return issues.list;
}
