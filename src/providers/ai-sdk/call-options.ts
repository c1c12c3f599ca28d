import { defined, isRecord } from "../../core/base/json.ts";
import {
  type AssistantBlock,
  type ImageBlock,
  type Message,
  type ProviderData,
  type TextBlock,
  type ToolResultBlock,
  textOf,
  type UserBlock,
} from "../../core/message/message.ts";
import type { ModelRequest, ToolSpec } from "../../core/model/model.ts";
import type {
  AiSdkCallOptions,
  AiSdkFileData,
  AiSdkFilePart,
  AiSdkMessage,
  AiSdkMetadata,
  AiSdkOutputPart,
  AiSdkTextPart,
  AiSdkTool,
  AiSdkToolCallPart,
  AiSdkToolResultPart,
  AiSdkVersion,
} from "./language-model.ts";

/** The model a call is made for. `provider` is the AI SDK's name, e.g. `anthropic.messages`. */
export interface AiSdkTarget {
  readonly version: AiSdkVersion;
  readonly provider: string;
}

/**
 * Makes the conversion of requests into `doStream` options (without the signal). Each message is converted
 * once.
 *
 * - Metadata and reasoning go back only to the provider they came from.
 * - An error result that holds images is sent as `error-text`, and its images as a user message after the
 *   results: the other forms have no place for the error.
 * - `effort` is `reasoning` in v4; v3 has no such option. `parallelToolCalls` and `sessionId` have none
 *   either.
 * - `providerOptions.ai_sdk` is handed over as `providerOptions`.
 */
export function createCallOptions(target: AiSdkTarget): (request: ModelRequest) => AiSdkCallOptions {
  const converted = new WeakMap<Message, readonly AiSdkMessage[]>();
  return (request) => {
    const { messages, tools = [], toolChoice, effort, system, providerOptions } = request;
    const { maxOutputTokens, temperature, topP, stopSequences } = request;
    const prompt: AiSdkMessage[] =
      system === undefined || system === "" ? [] : [{ role: "system", content: wellFormed(system) }];
    for (const [at, message] of messages.entries()) {
      let parts = converted.get(message);
      if (parts === undefined) {
        parts = wellFormed(
          message.role === "user"
            ? userMessages(message.content, { messages, at, target })
            : assistantMessage(message.content, target),
        );
        converted.set(message, parts);
      }
      prompt.push(...parts);
    }
    return {
      prompt,
      ...(tools.length === 0 ? {} : defined({ tools: tools.map(toolOf), toolChoice: choiceOf(toolChoice) })),
      ...defined({
        maxOutputTokens,
        temperature,
        topP,
        stopSequences,
        reasoning: target.version === "v4" ? effort : undefined,
        providerOptions: providerOptions?.["ai_sdk"],
      }),
    };
  };
}

/** The `ai_sdk` part of `provider_data`. `emptyText`: stands for a text part without characters. */
export function aiSdkData(
  provider: string,
  metadata: AiSdkMetadata | undefined,
  emptyText = false,
): ProviderData {
  return { ai_sdk: { provider, ...defined({ metadata }), ...(emptyText ? { emptyText } : {}) } };
}

function toolOf({ name, description, parameters }: ToolSpec): AiSdkTool {
  return wellFormed({ type: "function", name, description, inputSchema: parameters });
}

/** The same without halves of characters: the packages of the AI SDK put them into their bodies. */
function wellFormed<T>(value: T): T;
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item: unknown) => wellFormed(item));
  if (!isRecord(value) || value instanceof URL) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]),
  );
}

function choiceOf(choice: ModelRequest["toolChoice"]): AiSdkCallOptions["toolChoice"] | undefined {
  return typeof choice === "object" ? { type: "tool", toolName: choice.name } : choice && { type: choice };
}

interface Place {
  readonly messages: readonly Message[];
  readonly at: number;
  readonly target: AiSdkTarget;
}

function userMessages(blocks: readonly UserBlock[], place: Place): readonly AiSdkMessage[] {
  const results: AiSdkToolResultPart[] = [];
  const promoted: (AiSdkTextPart | AiSdkFilePart)[] = [];
  const rest: (AiSdkTextPart | AiSdkFilePart)[] = [];
  const { version } = place.target;
  for (const block of blocks) {
    if (block.type === "tool_result") {
      const toolName = callName(block.tool_use_id, place);
      results.push(toolResult(block, toolName, version));
      if (block.is_error === true) promoted.push(...imagesOf(block).map((image) => filePart(image, version)));
    } else if (block.type === "image") rest.push(filePart(block, version));
    else if (block.text !== "") rest.push({ type: "text", text: block.text });
  }
  const content =
    promoted.length === 0
      ? rest
      : [{ type: "text" as const, text: "Images of the failed call:" }, ...promoted, ...rest];
  return [
    ...(results.length === 0 ? [] : [{ role: "tool" as const, content: results }]),
    ...(content.length === 0 ? [] : [{ role: "user" as const, content }]),
  ];
}

function toolResult(block: ToolResultBlock, toolName: string, version: AiSdkVersion): AiSdkToolResultPart {
  const result = { type: "tool-result" as const, toolCallId: block.tool_use_id, toolName };
  if (block.is_error === true)
    return { ...result, output: { type: "error-text", value: textOf(block.content, "\n") } };
  if (imagesOf(block).length === 0)
    return { ...result, output: { type: "text", value: textOf(block.content, "\n") } };
  const content = block.content as readonly (TextBlock | ImageBlock)[];
  return { ...result, output: { type: "content", value: content.map((item) => outputPart(item, version)) } };
}

function imagesOf({ content }: ToolResultBlock): readonly ImageBlock[] {
  return typeof content === "string"
    ? []
    : content.filter((item): item is ImageBlock => item.type === "image");
}

function outputPart(item: TextBlock | ImageBlock, version: AiSdkVersion): AiSdkOutputPart {
  if (item.type === "text") return { type: "text", text: item.text };
  const { source } = item;
  if (version === "v4") return { type: "file", ...fileData(item) };
  return source.type === "base64"
    ? { type: "image-data", data: source.data, mediaType: source.media_type }
    : { type: "image-url", url: source.url };
}

function filePart(image: ImageBlock, version: AiSdkVersion): AiSdkFilePart {
  const { mediaType, data } = fileData(image);
  if (version === "v4") return { type: "file", mediaType, data };
  return data.type === "data"
    ? { type: "file", mediaType, data: data.data }
    : { type: "file", mediaType: "image/*", data: data.url };
}

function fileData({ source }: ImageBlock): { readonly mediaType: string; readonly data: AiSdkFileData } {
  return source.type === "base64"
    ? { mediaType: source.media_type, data: { type: "data", data: source.data } }
    : { mediaType: "image", data: { type: "url", url: new URL(source.url) } };
}

/** The name of the call a result belongs to: nearly always in the message before. */
function callName(id: string, { messages, at }: Place): string {
  for (let before = at - 1; before >= 0; before--) {
    const message = messages[before];
    if (message?.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "tool_use" && block.id === id) return block.name;
  }
  return "unknown_tool";
}

function assistantMessage(blocks: readonly AssistantBlock[], target: AiSdkTarget): readonly AiSdkMessage[] {
  const content: (AiSdkTextPart | AiSdkToolCallPart)[] = [];
  for (const block of blocks) {
    const own = block.provider_data?.["ai_sdk"];
    const isOurs = own !== undefined && own["provider"] === target.provider;
    const metadata = isOurs ? (own["metadata"] as AiSdkMetadata | undefined) : undefined;
    const options = defined({ providerOptions: metadata });
    if (block.type === "tool_use") {
      content.push({
        type: "tool-call",
        toolCallId: block.id,
        toolName: block.name,
        input: block.input,
        ...options,
      });
    } else if (block.type === "text") {
      if (block.text !== "" || metadata !== undefined)
        content.push({ type: "text", text: block.text, ...options });
    } else if (isOurs)
      content.push({
        type: own["emptyText"] === true ? "text" : "reasoning",
        text: block.thinking,
        ...options,
      });
  }
  return content.length === 0 ? [] : [{ role: "assistant", content }];
}
