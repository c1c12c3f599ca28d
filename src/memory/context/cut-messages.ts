import { truncateMiddle } from "../../core/base/text.ts";
import type {
  ImageBlock,
  Message,
  TextBlock,
  ToolResultBlock,
  UserBlock,
  UserMessage,
} from "../../core/message/message.ts";

const CALL_AGAIN = "[Shortened to make room in the conversation. Run the call again to see all of it.]";
const IMAGE_LEFT_OUT = "[An image was left out to make room in the conversation.]";

/**
 * Messages whose tool results have at most `maxChars` characters: longer ones keep beginning and end around a
 * line that says how much is missing, images become a line. Calls and results stay together; a message that
 * is short enough is the same object.
 */
export function cutResults(messages: readonly Message[], maxChars: number): readonly Message[] {
  return messages.map((message) => {
    if (message.role !== "user") return message;
    let changed = false;
    const content = message.content.map((block) => {
      if (block.type !== "tool_result") return block;
      const cut = cutResult(block, maxChars);
      changed ||= cut !== block;
      return cut;
    });
    return changed ? { ...message, content } : message;
  });
}

/** A user message with at most `maxChars` of text, the cut marked; the same object when short enough. */
export function cutUserMessage(message: UserMessage, maxChars: number): UserMessage {
  const length = message.content.reduce(
    (sum, block) => sum + (block.type === "text" ? block.text.length : 0),
    0,
  );
  if (length <= maxChars) return message;
  let left = maxChars;
  const content = message.content.flatMap((block): readonly UserBlock[] => {
    if (block.type !== "text") return [block];
    const text = truncateMiddle(block.text, Math.max(left, 0));
    left -= text.length;
    return text === "" ? [] : [{ ...block, text }];
  });
  return { ...message, content };
}

function cutResult(block: ToolResultBlock, maxChars: number): ToolResultBlock {
  const { content } = block;
  if (typeof content === "string") {
    const text = cutText(content, maxChars);
    return text === content ? block : { ...block, content: text };
  }
  let changed = false;
  const parts = content.map((part: TextBlock | ImageBlock): TextBlock => {
    const text = part.type === "image" ? IMAGE_LEFT_OUT : cutText(part.text, maxChars);
    if (part.type === "text" && text === part.text) return part;
    changed = true;
    return { type: "text", text };
  });
  return changed ? { ...block, content: parts } : block;
}

function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const whole = text.endsWith(CALL_AGAIN) ? text.slice(0, -CALL_AGAIN.length - 1) : text;
  const cut = truncateMiddle(whole, Math.max(0, maxChars - CALL_AGAIN.length - 1));
  return `${cut}\n${CALL_AGAIN}`;
}
