import { expect, test } from "vitest";
import type { Redaction } from "../../../core/base/text.ts";
import type { Message } from "../../../core/message/message.ts";
import { redactMessages } from "./export-session.ts";

const SECRET = "hush-hush";
const text = (said: string): string => said.replaceAll(SECRET, "«gone»");
const redaction: Redaction = { text, stream: () => ({ push: text, flush: () => "" }) };

test("an export has no secret in what the provider keeps beside a text, a thought or a call", () => {
  const said = `it is ${SECRET}`;
  const item = { type: "reasoning", summary: [{ type: "summary_text", text: said }] };
  const messages: readonly Message[] = [
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: said, provider_data: { openai_responses: { item } } },
        { type: "text", text: "", provider_data: { anthropic: { block: { input: { code: said } } } } },
        { type: "text", text: said, provider_data: { google: { groundingMetadata: { queries: [said] } } } },
        {
          type: "tool_use",
          id: "c",
          name: "t",
          input: { said },
          provider_data: { anthropic: { caller: said } },
        },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: said }] },
  ];
  const shown = JSON.stringify(redactMessages(redaction, messages));
  expect(shown).not.toContain(SECRET);
  expect(shown).toBe(text(JSON.stringify(messages)));
});
