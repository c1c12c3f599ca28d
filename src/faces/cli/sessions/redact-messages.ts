import type { JournalEntry } from "../../../core/agent/entries.ts";
import type { Json } from "../../../core/base/errors.ts";
import type { Redaction } from "../../../core/base/text.ts";
import {
  type ContentBlock,
  type Message,
  mapTexts,
  type ProviderData,
} from "../../../core/message/message.ts";
import { redactJson } from "../../../core/tool/tool-output.ts";

/**
 * A conversation to hand on, without secrets in what people, the model, tools and the provider said. Ids and
 * names of calls and images stay as they are.
 */
export function redactMessages(
  redaction: Redaction | undefined,
  messages: readonly Message[],
): readonly Message[] {
  if (redaction === undefined) return messages;
  return messages.map((message) => {
    const content = (message.content as readonly ContentBlock[])
      .map((block) => redactBlock(redaction, block))
      .map((block) => redactProviderData(redaction, block));
    return { ...message, content } as Message;
  });
}

function redactBlock(redaction: Redaction, block: ContentBlock): ContentBlock {
  switch (block.type) {
    case "text":
      return { ...block, text: redaction.text(block.text) };
    case "thinking":
      return { ...block, thinking: redaction.text(block.thinking) };
    case "image":
      return block;
    case "tool_use":
      return {
        ...block,
        input: redactJson(redaction, block.input as { readonly [key: string]: Json | undefined }),
        ...(block.invalid_input === undefined
          ? {}
          : { invalid_input: { ...block.invalid_input, raw: redaction.text(block.invalid_input.raw) } }),
      };
    case "tool_result":
      return { ...block, content: mapTexts(block.content, (text) => redaction.text(text)) };
  }
}

/** A search, its sources, code the provider ran, and the reasoning once more. */
function redactProviderData(redaction: Redaction, block: ContentBlock): ContentBlock {
  if (!("provider_data" in block) || block.provider_data === undefined) return block;
  const data = redactJson(redaction, block.provider_data as unknown as Json) as unknown as ProviderData;
  return { ...block, provider_data: data };
}

/** Entries without secrets. The same text becomes the same everywhere, so calls keep their results. */
export function redactEntries(
  redaction: Redaction | undefined,
  entries: readonly JournalEntry[],
): readonly JournalEntry[] {
  if (redaction === undefined) return entries;
  return entries.map((entry) => redactJson(redaction, entry as unknown as Json) as unknown as JournalEntry);
}
