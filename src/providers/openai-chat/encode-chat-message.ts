import type { Json, JsonObject } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import {
  type AssistantBlock,
  type AssistantMessage,
  type ImageBlock,
  type Message,
  type TextBlock,
  type ThinkingBlock,
  type ToolResultBlock,
  type ToolUseBlock,
  textOf,
  type UserBlock,
  type UserMessage,
} from "../../core/message/message.ts";
import { wellFormedJson } from "../serialise-once.ts";
import { sentToolName, toolCallId } from "../tool-call-names.ts";
import { imageUrl } from "../wire.ts";
import type { ChatQuirks } from "./quirks.ts";

/** A message as JSON: any number of wire messages, separated by commas. Either part may be empty. */
export interface WrittenMessage {
  /** `role: "tool"` messages. They must follow the calls directly, before anything a user says. */
  readonly toolResults: string;
  readonly rest: string;
}

/**
 * Serialises a message. Depends on nothing but its arguments, so that the text can be kept. `isMarked`: what
 * ends here is to be cached; answers of the model are never marked.
 */
export function writeMessage(message: Message, quirks: ChatQuirks, isMarked = false): WrittenMessage {
  return message.role === "assistant"
    ? writeAssistant(message, quirks)
    : writeUser(message, quirks, isMarked);
}

/** Content that ends with a mark for caching; as it is where there is no text to mark. */
export function markedContent(content: unknown): unknown {
  if (typeof content === "string") return content === "" ? content : markedContent([textPart(content)]);
  const parts = content as readonly Fields[];
  const last = parts.findLastIndex(({ type, text }) => type === "text" && text !== "");
  return parts.map((part, at) => (at === last ? { ...part, cache_control: { type: "ephemeral" } } : part));
}

type Fields = Record<string, unknown>;

function writeAssistant(message: AssistantMessage, quirks: ChatQuirks): WrittenMessage {
  const text = textOf(message.content);
  const calls = message.content.filter((block) => block.type === "tool_use");
  if (text === "" && calls.length === 0) return { toolResults: "", rest: "" };
  const fields: Fields = { role: "assistant", content: text === "" ? null : text };
  addReasoning(fields, message.content, quirks);
  if (calls.length > 0) fields["tool_calls"] = calls.map((call) => wireCall(call, quirks));
  return { toolResults: "", rest: JSON.stringify(fields) };
}

function wireCall(call: ToolUseBlock, quirks: ChatQuirks): Fields {
  const extra = call.provider_data?.["openai_chat"]?.["extra_content"];
  return {
    id: wireId(call.id, quirks),
    type: "function",
    // Several servers parse arguments again: broken ones are told of by their error result alone.
    function: { name: sentToolName(call.name), arguments: wellFormedJson(JSON.stringify(call.input)) },
    ...defined({ extra_content: extra }),
  };
}

/** OpenAI accepts 40 characters. */
function wireId(id: string, quirks: ChatQuirks): string {
  return toolCallId(id, quirks.tool_call_ids === "any" ? 40 : quirks.tool_call_ids);
}

/** Reasoning of other wires is left out: no vendor can make use of it. */
function addReasoning(fields: Fields, blocks: readonly AssistantBlock[], quirks: ChatQuirks): void {
  const own = blocks.filter(
    (block): block is ThinkingBlock =>
      block.type === "thinking" && block.provider_data?.["openai_chat"] !== undefined,
  );
  const text = own.map((block) => block.thinking).join("\n");
  const data = own.map((block): JsonObject => block.provider_data?.["openai_chat"] ?? {});
  const field = text === "" ? undefined : replayField(quirks, data);
  if (field !== undefined) fields[field] = text;
  else if (quirks.reasoning_replay === "reasoning_details") addDetails(fields, data, text);
  else if (quirks.reasoning_replay === "content" && text !== "") addThinkingParts(fields, text);
  if (quirks.require_reasoning && field === undefined && blocks.some((block) => block.type === "tool_use")) {
    // One blank: some of the models that insist on the field refuse an empty one.
    fields["reasoning_content"] = " ";
  }
}

function replayField(quirks: ChatQuirks, data: readonly JsonObject[]): string | undefined {
  const { reasoning_replay } = quirks;
  if (reasoning_replay === "reasoning_content" || reasoning_replay === "reasoning") return reasoning_replay;
  if (reasoning_replay !== "same") return undefined;
  const field = data[0]?.["field"];
  return typeof field === "string" ? field : undefined;
}

function addDetails(fields: Fields, data: readonly JsonObject[], text: string): void {
  const details = data.flatMap((entry) =>
    Array.isArray(entry["details"]) ? (entry["details"] as Json[]) : [],
  );
  if (details.length > 0) fields["reasoning_details"] = details;
  else if (text !== "") fields["reasoning"] = text;
}

function addThinkingParts(fields: Fields, text: string): void {
  const parts: Fields[] = [{ type: "thinking", thinking: [{ type: "text", text }], closed: true }];
  if (typeof fields["content"] === "string") parts.push({ type: "text", text: fields["content"] });
  fields["content"] = parts;
}

function writeUser(message: UserMessage, quirks: ChatQuirks, isMarked: boolean): WrittenMessage {
  const results: Fields[] = [];
  const images: Fields[] = [];
  const said: (TextBlock | ImageBlock)[] = [];
  for (const block of message.content) {
    if (block.type !== "tool_result") {
      said.push(block);
      continue;
    }
    const before = images.length;
    const content = resultText(block, images);
    const id = wireId(block.tool_use_id, quirks);
    if (images.length > before)
      images.splice(before, 0, textPart(`Images from the result of tool call ${id}:`));
    results.push({ role: "tool", tool_call_id: id, content });
  }
  const rest = images.length + said.length === 0 ? [] : [userFields(message, { said, images, quirks })];
  const last = rest[0] ?? (quirks.cache_marks === "all" ? results.at(-1) : undefined);
  if (isMarked && last !== undefined) last["content"] = markedContent(last["content"]);
  const written = (list: readonly Fields[]): string => list.map((each) => JSON.stringify(each)).join(",");
  return { toolResults: written(results), rest: written(rest) };
}

/** The text of a result. Images move to `images` and leave a pointer behind. */
function resultText(result: ToolResultBlock, images: Fields[]): string {
  const lines: string[] = [];
  if (typeof result.content === "string") lines.push(result.content);
  else {
    for (const block of result.content) {
      if (block.type === "text") lines.push(block.text);
      else {
        images.push(imagePart(block));
        lines.push("[image: see the user message after the tool results]");
      }
    }
  }
  const text = lines.join("\n");
  // The format has no field for failure, so the text says it.
  if (result.is_error === true && !/^error\b/i.test(text)) return text === "" ? "Error" : `Error: ${text}`;
  return text === "" ? "(no output)" : text;
}

function userFields(
  message: UserMessage,
  parts: {
    readonly said: readonly UserBlock[];
    readonly images: readonly Fields[];
    readonly quirks: ChatQuirks;
  },
): Fields {
  const { said, images, quirks } = parts;
  const plain = images.length === 0 && said.every((block) => block.type === "text");
  const named = quirks.message_names && message.name !== undefined && /^[\w-]{1,64}$/.test(message.name);
  return {
    role: "user",
    ...(named ? { name: message.name } : {}),
    content: plain
      ? textOf(said, "\n")
      : [
          ...images,
          ...said.map((block) => (block.type === "image" ? imagePart(block) : textPart(textOf([block])))),
        ],
  };
}

function textPart(text: string): Fields {
  return { type: "text", text };
}

function imagePart(image: ImageBlock): Fields {
  return { type: "image_url", image_url: { url: imageUrl(image) } };
}
