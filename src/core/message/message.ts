import type { AssistantBlock, ContentBlock, ToolUseBlock, UserBlock } from "./block.ts";

/** Input of a person, or the results of the tool calls in the assistant message before it. */
export interface UserMessage {
  readonly role: "user";
  readonly content: readonly UserBlock[];
  /** Who wrote it, where several take part. Not sent to providers that have no place for it. */
  readonly name?: string;
}

/** One answer of a model. */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly AssistantBlock[];
  readonly name?: string;
}

/**
 * One message of a transcript, in the shape of the Anthropic Messages API, which every wire of this package
 * converts from. The system prompt is no message: it is a field of the request.
 */
export type Message = UserMessage | AssistantMessage;

/**
 * Name of the user message in which stands what was found in a long-term memory. The tag around it and the
 * mark of the message are called the same.
 */
export const LONG_TERM_MEMORY = "long_term_memory";

/** A user message from text or blocks. */
export function userMessage(content: string | readonly UserBlock[]): UserMessage {
  return { role: "user", content: typeof content === "string" ? [{ type: "text", text: content }] : content };
}

/** An assistant message from text or blocks. */
export function assistantMessage(content: string | readonly AssistantBlock[]): AssistantMessage {
  return {
    role: "assistant",
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
  };
}

/** All text blocks of a message, joined by `separator` (default: nothing between them). */
export function messageText(message: Message, separator = ""): string {
  return textOf(message.content, separator);
}

/** All text blocks among `blocks`, joined by `separator` (default: nothing between them). */
export function textOf(blocks: string | readonly ContentBlock[], separator = ""): string {
  if (typeof blocks === "string") return blocks;
  const texts: string[] = [];
  for (const block of blocks) if (block.type === "text") texts.push(block.text);
  return texts.join(separator);
}

/** Content with its texts changed; what is no text stays as it is. */
export function mapTexts<Content extends string | readonly ContentBlock[]>(
  content: Content,
  change: (text: string) => string,
): Content {
  const changed =
    typeof content === "string"
      ? change(content)
      : content.map((block) => (block.type === "text" ? { ...block, text: change(block.text) } : block));
  return changed as Content;
}

/** The tool calls of a message, in order. */
export function toolCallsOf(message: Message): readonly ToolUseBlock[] {
  return (message.content as readonly ContentBlock[]).filter((block) => block.type === "tool_use");
}
