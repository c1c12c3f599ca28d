import { defined } from "../../core/base/json.ts";
import type {
  ContentBlock,
  ImageBlock,
  Message,
  ProviderData,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
} from "../../core/message/message.ts";
import { sentToolName } from "../tool-call-names.ts";

/** A message as text: its blocks in JSON, joined by commas. `count` 0: there is nothing to send. */
export interface EncodedMessage {
  readonly role: "user" | "assistant";
  readonly blocks: string;
  readonly count: number;
  /** True when the last block may carry a mark for caching. */
  readonly cacheable: boolean;
  readonly thinks: boolean;
}

/** A message's content in the words of the Messages API, results first, without what the API refuses. */
export function encodeMessage(message: Message): EncodedMessage {
  const content: readonly ContentBlock[] = message.content;
  const ordered =
    message.role === "user" && content.some((block) => block.type === "tool_result")
      ? resultsFirst(content)
      : content;
  const blocks: string[] = [];
  let last: ContentBlock | undefined;
  let thinks = false;
  for (const block of ordered) {
    const value = encodeBlock(block);
    if (value === undefined) continue;
    if (blocks.length === 0) thinks = block.type === "thinking";
    blocks.push(JSON.stringify(value));
    last = block;
  }
  return {
    role: message.role,
    blocks: blocks.join(","),
    count: blocks.length,
    cacheable: last !== undefined && last.type !== "thinking" && ownData(last, "block") === undefined,
    thinks,
  };
}

/** An id the API accepts (`[a-zA-Z0-9_-]+`), the same for a call and its result, and still unique. */
export function toolUseId(id: string): string {
  if (/^[\w-]+$/.test(id)) return id;
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  return `${id.replaceAll(/[^\w-]/g, "_")}_${(hash >>> 0).toString(36)}`;
}

/** Results, then the images of error results, which the API takes as text only, then the rest. */
function resultsFirst(content: readonly ContentBlock[]): readonly ContentBlock[] {
  const results: ContentBlock[] = [];
  const images: ContentBlock[] = [];
  const rest: ContentBlock[] = [];
  for (const block of content) {
    if (block.type !== "tool_result") rest.push(block);
    else if (block.is_error !== true || typeof block.content === "string") results.push(block);
    else {
      results.push({ ...block, content: block.content.filter((part) => part.type === "text") });
      images.push(...block.content.filter((part) => part.type === "image"));
    }
  }
  return [...results, ...images, ...rest];
}

function encodeBlock(block: ContentBlock): object | undefined {
  switch (block.type) {
    case "text":
      return ownData(block, "block") ?? encodeText(block);
    case "thinking":
      return encodeThinking(block);
    case "image":
      return encodeImage(block);
    case "tool_use":
      return {
        type: "tool_use",
        id: toolUseId(block.id),
        name: sentToolName(block.name),
        input: block.input,
        ...callerOf(block.provider_data?.["anthropic"]),
      };
    case "tool_result":
      return encodeResult(block);
  }
}

function callerOf({ caller, toolset_name }: ProviderData[string] = {}): object {
  return defined({ caller, toolset_name });
}

function ownData(block: ContentBlock, key: "block" | "citations"): object | undefined {
  const value = "provider_data" in block ? block.provider_data?.["anthropic"]?.[key] : undefined;
  return typeof value === "object" && value !== null ? value : undefined;
}

function encodeText(block: TextBlock): object | undefined {
  const { text } = block;
  return text.trim() === ""
    ? undefined
    : { type: "text", text, ...defined({ citations: ownData(block, "citations") }) };
}

function encodeThinking({ thinking, signature, redacted, provider_data }: ThinkingBlock): object | undefined {
  if (provider_data !== undefined && !("anthropic" in provider_data)) return undefined;
  if (redacted !== undefined) return { type: "redacted_thinking", data: redacted };
  return signature === undefined ? undefined : { type: "thinking", thinking, signature };
}

function encodeImage({ source }: ImageBlock): object {
  return source.type === "base64"
    ? { type: "image", source: { type: "base64", media_type: source.media_type, data: source.data } }
    : { type: "image", source: { type: "url", url: source.url } };
}

function encodeResult({ tool_use_id, content, is_error }: ToolResultBlock): object {
  return {
    type: "tool_result",
    tool_use_id: toolUseId(tool_use_id),
    content: resultContent(content),
    ...(is_error === true ? { is_error: true } : {}),
  };
}

/** Never empty: an error without content is refused. */
function resultContent(content: ToolResultBlock["content"]): string | readonly object[] {
  if (typeof content === "string") return content.trim() === "" ? NO_OUTPUT : content;
  const blocks = content.map(encodeBlock).filter((block) => block !== undefined);
  return blocks.length === 0 ? NO_OUTPUT : blocks;
}

const NO_OUTPUT = "(no output)";
