import { isRecord } from "../../core/base/json.ts";
import type { ImageBlock, TextBlock } from "../../core/message/message.ts";
import { contentBlocks } from "./tool-result.ts";

/** A message of a prompt. */
export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly (TextBlock | ImageBlock)[];
}

/** The messages a server's prompt consists of; what is no message is left out. */
export function promptMessages(answer: unknown): readonly PromptMessage[] {
  const messages = isRecord(answer) ? answer["messages"] : undefined;
  return (Array.isArray(messages) ? (messages as readonly unknown[]) : []).flatMap((message) => {
    if (!isRecord(message)) return [];
    const { role, content } = message;
    const blocks = contentBlocks(Array.isArray(content) ? content : [content]);
    return blocks.length === 0
      ? []
      : [{ role: role === "assistant" ? ("assistant" as const) : ("user" as const), content: blocks }];
  });
}
