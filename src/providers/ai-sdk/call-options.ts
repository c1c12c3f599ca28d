import type { Json } from "../../core/base/errors.ts";
import { type Fields, isRecord, omitUndefined } from "../../core/base/json.ts";
import { plainObjectSchema } from "../../core/base/plain-object-schema.ts";
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
import type { ModelRequest } from "../../core/model/model.ts";
import { imagesOf } from "../wire.ts";

/**
 * The part of a Vercel AI SDK language model that {@link import("./from-ai-sdk.ts").fromAiSdk} needs,
 * specification v3 (AI SDK 6) or v4 (AI SDK 7). Declared here so that neither `@ai-sdk/provider` nor its
 * types must be installed.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<{ readonly stream: AiSdkStream }>;
}

/** The used part of a `doStream` result's stream. Its chunks are {@link AiSdkStreamPart}s. */
export interface AiSdkStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: unknown }>;
    cancel(reason?: unknown): Promise<void>;
  };
}

export type AiSdkMetadata = { readonly [provider: string]: { readonly [key: string]: Json | undefined } };

/** A stream chunk. Unlisted types are skipped. */
export interface AiSdkStreamPart {
  readonly type: string;
  /** For text, reasoning and tool input: the block's id; for `response-metadata`: the answer's. */
  readonly id?: string;
  readonly delta?: string;
  readonly toolName?: string;
  readonly toolCallId?: string;
  /** For `tool-call`: the arguments as JSON text. */
  readonly input?: unknown;
  /** True for a tool that ran at the provider; it needs no handling here. */
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: AiSdkMetadata;
  readonly modelId?: string;
  readonly usage?: AiSdkUsage;
  readonly finishReason?: AiSdkFinishReason | string;
  readonly error?: unknown;
}

/** `total` includes the parts. Unknown figures are `undefined`. */
export interface AiSdkUsage {
  readonly inputTokens?: {
    readonly total?: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
  readonly outputTokens?: { readonly total?: number; readonly reasoning?: number };
  readonly raw?: unknown;
}

/** Why the model stopped. `interrupted` (v4): the provider's stream ended without a reason. */
export interface AiSdkFinishReason {
  readonly unified: string;
  readonly raw?: string | undefined;
}

export type AiSdkVersion = "v3" | "v4";

export interface AiSdkCallOptions extends Fields {
  readonly prompt: readonly AiSdkMessage[];
  readonly abortSignal?: AbortSignal;
}

/** A message of role `system`, `user`, `assistant` or `tool`, with text or parts. */
interface AiSdkMessage {
  readonly role: string;
  readonly content: string | readonly Fields[];
}

/**
 * Creates the converter of requests to `doStream` options (without the signal). Each message is converted
 * once.
 *
 * - Metadata and reasoning only return to the provider they came from.
 * - An error result with images is sent as `error-text`, and its images as a user message after the results:
 *   the other forms cannot express the error.
 * - `effort` is `reasoning` in v4; v3 has no such option. Neither has `parallelToolCalls` or `sessionId`.
 * - `providerOptions.ai_sdk` is passed on as `providerOptions`.
 */
export function createCallOptions(
  version: AiSdkVersion,
  provider: string,
): (request: ModelRequest) => AiSdkCallOptions {
  const converted = new WeakMap<Message, readonly AiSdkMessage[]>();
  return (request) => {
    const { messages, tools = [], toolChoice, effort, system = "", providerOptions } = request;
    const { maxOutputTokens, temperature, topP, stopSequences } = request;
    const prompt: AiSdkMessage[] = system === "" ? [] : [{ role: "system", content: wellFormed(system) }];
    for (const [at, message] of messages.entries()) {
      let parts = converted.get(message);
      if (parts === undefined) {
        const { role, content } = message;
        parts = wellFormed(
          role === "user"
            ? userMessages(content, messages.slice(0, at), version)
            : assistantMessage(content, provider),
        );
        converted.set(message, parts);
      }
      prompt.push(...parts);
    }
    const declared = tools.map(({ name, description, parameters }) => {
      const inputSchema = plainObjectSchema(parameters);
      return wellFormed({ type: "function", name, description, inputSchema });
    });
    return {
      prompt,
      ...(declared.length === 0 ? {} : omitUndefined({ tools: declared, toolChoice: choiceOf(toolChoice) })),
      ...omitUndefined({
        maxOutputTokens,
        temperature,
        topP,
        stopSequences,
        reasoning: version === "v4" ? effort : undefined,
        providerOptions: providerOptions?.["ai_sdk"],
      }),
    };
  };
}

/** The `ai_sdk` part of `provider_data`. `emptyText`: it came with an empty text part. */
export function aiSdkData(
  provider: string,
  metadata: AiSdkMetadata | undefined,
  emptyText = false,
): ProviderData {
  return { ai_sdk: { provider, ...omitUndefined({ metadata }), ...(emptyText ? { emptyText } : {}) } };
}

/** Replaces lone surrogates, which the AI SDK packages would put into their request bodies. */
function wellFormed<T>(value: T): T;
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map((item: unknown) => wellFormed(item));
  if (!isRecord(value) || value instanceof URL) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]),
  );
}

function choiceOf(choice: ModelRequest["toolChoice"]): Fields | undefined {
  return typeof choice === "object" ? { type: "tool", toolName: choice.name } : choice && { type: choice };
}

function userMessages(
  blocks: readonly UserBlock[],
  before: readonly Message[],
  version: AiSdkVersion,
): readonly AiSdkMessage[] {
  const results: Fields[] = [];
  const promoted: Fields[] = [];
  const rest: Fields[] = [];
  for (const block of blocks) {
    if (block.type === "tool_result") {
      results.push(toolResult(block, callName(block.tool_use_id, before), version));
      if (block.is_error === true) promoted.push(...imagesOf(block).map((image) => filePart(image, version)));
    } else if (block.type === "image") rest.push(filePart(block, version));
    else if (block.text !== "") rest.push({ type: "text", text: block.text });
  }
  const content: readonly Fields[] =
    promoted.length === 0
      ? rest
      : [{ type: "text", text: "Images of the failed call:" }, ...promoted, ...rest];
  return [
    ...(results.length === 0 ? [] : [{ role: "tool", content: results }]),
    ...(content.length === 0 ? [] : [{ role: "user", content }]),
  ];
}

function toolResult(block: ToolResultBlock, toolName: string, version: AiSdkVersion): Fields {
  const { tool_use_id: toolCallId, content, is_error } = block;
  const result = { type: "tool-result", toolCallId, toolName };
  if (is_error !== true && typeof content !== "string" && imagesOf(block).length > 0)
    return {
      ...result,
      output: { type: "content", value: content.map((item) => outputPart(item, version)) },
    };
  const type = is_error === true ? "error-text" : "text";
  return { ...result, output: { type, value: textOf(content, "\n") } };
}

/** v3 has its own types for images in a result. */
function outputPart(item: TextBlock | ImageBlock, version: AiSdkVersion): Fields {
  if (item.type === "text") return { type: "text", text: item.text };
  if (version === "v4") return filePart(item, version);
  const { source } = item;
  return source.type === "base64"
    ? { type: "image-data", data: source.data, mediaType: source.media_type }
    : { type: "image-url", url: source.url };
}

/** v3: base64 text or a URL; v4: a tagged object. */
function filePart({ source }: ImageBlock, version: AiSdkVersion): Fields {
  const isTagged = version === "v4";
  if (source.type === "base64") {
    const { data, media_type: mediaType } = source;
    return { type: "file", mediaType, data: isTagged ? { type: "data", data } : data };
  }
  const url = new URL(source.url);
  return isTagged
    ? { type: "file", mediaType: "image", data: { type: "url", url } }
    : { type: "file", mediaType: "image/*", data: url };
}

/** The name of the call a result belongs to: nearly always in the message before. */
function callName(id: string, before: readonly Message[]): string {
  for (const message of before.toReversed()) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "tool_use" && block.id === id) return block.name;
  }
  return "unknown_tool";
}

function assistantMessage(blocks: readonly AssistantBlock[], provider: string): readonly AiSdkMessage[] {
  const content: Fields[] = [];
  for (const block of blocks) {
    const own = block.provider_data?.["ai_sdk"];
    const isOurs = own !== undefined && own["provider"] === provider;
    const metadata = isOurs ? (own["metadata"] as AiSdkMetadata | undefined) : undefined;
    const options = omitUndefined({ providerOptions: metadata });
    if (block.type === "tool_use") {
      const { id: toolCallId, name: toolName, input } = block;
      content.push({ type: "tool-call", toolCallId, toolName, input, ...options });
    } else if (block.type === "text") {
      if (block.text !== "" || metadata !== undefined)
        content.push({ type: "text", text: block.text, ...options });
    } else if (isOurs) {
      const type = own["emptyText"] === true ? "text" : "reasoning";
      content.push({ type, text: block.thinking, ...options });
    }
  }
  return content.length === 0 ? [] : [{ role: "assistant", content }];
}
