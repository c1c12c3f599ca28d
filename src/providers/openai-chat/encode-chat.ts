import type { Json, JsonObject } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { plainObjectSchema } from "../../core/base/plain-object-schema.ts";
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
  type UserMessage,
} from "../../core/message/message.ts";
import { EFFORTS, type Effort, type ModelRequest, type ToolSpec } from "../../core/model/model.ts";
import { imageUrl, openAiBody, openAiEndpoint, toolCallId, toolSettings } from "../openai-request.ts";
import { memoizeByObject, wellFormedJson } from "../serialise-once.ts";
import { imagesOf, toWireToolName, type WireRequest, type WireTarget } from "../wire.ts";
import { type ChatQuirks, quirksOf } from "./quirks.ts";

type Fields = Record<string, unknown>;

/**
 * Creates the encoder for one model. `providerOptions.openai_chat` overrides fields of the body; a `tools`
 * list there is appended to the request's tools.
 */
export function createChatEncoder(target: WireTarget): (request: ModelRequest) => WireRequest {
  const quirks = quirksOf(target);
  const endpoint = openAiEndpoint(target, "/chat/completions");
  const transcript = createTranscriptWriter(quirks);
  const tool = memoizeByObject(writeTool);
  return (request) => {
    const system = request.system ? [writeSystem(request.system, quirks)] : [];
    const head = `,"messages":[${[...system, ...transcript(request.messages)].join(",")}]`;
    const settings = (hasTools: boolean): object => settingsOf(request, quirks, hasTools);
    const body = { wire: "openai_chat", list: "messages", head, tool, settings } as const;
    return { ...endpoint, body: openAiBody(request, target, body) };
  };
}

function writeSystem(system: string, { system_role: role, cache_marks }: ChatQuirks): string {
  return JSON.stringify({ role, content: cache_marks === "none" ? system : withCacheControl(system) });
}

/** Number of latest user messages with `cache_control`. */
const MAX_CACHE_MARKS = 2;

/**
 * Messages as JSON texts, each one or several separated by commas. Results for one answer may be spread over
 * several user messages: their other content is held back until the next answer, or the end.
 */
function createTranscriptWriter(quirks: ChatQuirks): (messages: readonly Message[]) => readonly string[] {
  const written = memoizeByObject((message: Message) => writeMessage(message, quirks));
  const most = quirks.cache_marks === "none" ? 0 : MAX_CACHE_MARKS;
  return (messages) => {
    const users = most === 0 ? [] : messages.filter(({ role }) => role === "user");
    const cached = new Set<Message>(users.slice(-most));
    const texts: string[] = [];
    let pending: string[] = [];
    for (const message of messages) {
      const { toolResults, rest } = cached.has(message)
        ? writeMessage(message, quirks, true)
        : written(message);
      if (message.role === "assistant") texts.push(...pending, rest);
      else texts.push(toolResults);
      pending = message.role === "assistant" ? [] : [...pending, rest];
    }
    return [...texts, ...pending].filter((text) => text !== "");
  };
}

function writeTool({ name, description, parameters }: ToolSpec): string {
  const declared = { name, description, parameters: plainObjectSchema(parameters) };
  return JSON.stringify({ type: "function", function: declared });
}

function settingsOf(request: ModelRequest, quirks: ChatQuirks, hasTools: boolean): object {
  const { maxOutputTokens, temperature, topP, stopSequences = [], effort, sessionId } = request;
  const asksForParallelCalls = quirks.ask_for_parallel_calls && request.parallelToolCalls !== false;
  const named = (name: string): object => ({ type: "function", function: { name } });
  return omitUndefined({
    stream: true,
    stream_options: quirks.stream_usage ? { include_usage: true } : undefined,
    ...(hasTools ? toolSettings(request, named) : {}),
    ...(hasTools && asksForParallelCalls ? { parallel_tool_calls: true } : {}),
    [quirks.max_tokens_field]: maxOutputTokens,
    temperature,
    top_p: topP,
    stop: stopSequences.length > 0 ? stopSequences : undefined,
    ...(effort === undefined ? {} : effortFields(effort, quirks)),
    prompt_cache_key: quirks.prompt_cache_key ? sessionId?.slice(0, 64) : undefined,
  });
}

function effortFields(effort: Effort, { efforts, effort_format }: ChatQuirks): object {
  const word = nearestEffort(effort, efforts);
  switch (effort_format) {
    case "reasoning_effort":
      return { reasoning_effort: word };
    case "reasoning":
      return word === undefined ? {} : { reasoning: { effort: word } };
    case "thinking":
      return effort === "none"
        ? { thinking: { type: "disabled" } }
        : { thinking: { type: "enabled" }, reasoning_effort: word };
    case "enable_thinking":
      return { enable_thinking: effort !== "none" };
    case "off":
      return {};
  }
}

const WORDS: readonly string[] = [...EFFORTS, "max"];

/** The vendor's word nearest to `effort`, the stronger of two; `none` only maps to itself. */
function nearestEffort(effort: Effort, known: string): string | undefined {
  const words = known.split(",").filter((word) => word !== "" && (word === "none") === (effort === "none"));
  const distance = (word: string): number => Math.abs(WORDS.indexOf(word) - WORDS.indexOf(effort) - 0.1);
  return words.toSorted((left, right) => distance(left) - distance(right))[0];
}

/** A message as JSON: any number of wire messages, separated by commas. Either part may be empty. */
interface WrittenMessage {
  /** `role: "tool"` messages. They must follow the calls directly, before any user content. */
  readonly toolResults: string;
  readonly rest: string;
}

/**
 * Depends only on its arguments, so the text can be cached. `isCached`: adds `cache_control` at its end; the
 * model's answers never have it.
 */
function writeMessage(message: Message, quirks: ChatQuirks, isCached = false): WrittenMessage {
  return message.role === "assistant"
    ? writeAssistant(message, quirks)
    : writeUser(message, quirks, isCached);
}

/** Adds `cache_control` to the last text, if the content has any. */
function withCacheControl(content: unknown): unknown {
  if (typeof content === "string") return content === "" ? content : withCacheControl([textPart(content)]);
  const parts = content as readonly Fields[];
  const last = parts.findLastIndex(({ type, text }) => type === "text" && text !== "");
  return parts.map((part, at) => (at === last ? { ...part, cache_control: { type: "ephemeral" } } : part));
}

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
    // Several servers parse arguments again: only the error result reports broken ones.
    function: { name: toWireToolName(call.name), arguments: wellFormedJson(JSON.stringify(call.input)) },
    ...omitUndefined({ extra_content: extra }),
  };
}

/** OpenAI accepts up to 40 characters. */
function wireId(id: string, quirks: ChatQuirks): string {
  return toolCallId(id, quirks.tool_call_ids === "any" ? 40 : quirks.tool_call_ids);
}

/** Reasoning from other wires is omitted: no vendor can use it. */
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
    // One space: some of the models that require the field refuse an empty one.
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

function writeUser(message: UserMessage, quirks: ChatQuirks, isCached: boolean): WrittenMessage {
  const results: Fields[] = [];
  const images: Fields[] = [];
  const content: (TextBlock | ImageBlock)[] = [];
  for (const block of message.content) {
    if (block.type !== "tool_result") {
      content.push(block);
      continue;
    }
    const id = wireId(block.tool_use_id, quirks);
    const own = imagesOf(block);
    if (own.length > 0)
      images.push(textPart(`Images from the result of tool call ${id}:`), ...own.map(imagePart));
    results.push({ role: "tool", tool_call_id: id, content: resultText(block) });
  }
  const rest = images.length + content.length === 0 ? [] : [userFields(message, content, images, quirks)];
  const last = rest[0] ?? (quirks.cache_marks === "all" ? results.at(-1) : undefined);
  if (isCached && last !== undefined) last["content"] = withCacheControl(last["content"]);
  const written = (list: readonly Fields[]): string => list.map((each) => JSON.stringify(each)).join(",");
  return { toolResults: written(results), rest: written(rest) };
}

/** The text of a result. Images follow in a user message, and leave a pointer here. */
function resultText({ content, is_error }: ToolResultBlock): string {
  const lines = typeof content === "string" ? [content] : content.map(lineOf);
  const text = lines.join("\n");
  // The format has no field for failure, so the text states it.
  if (is_error === true && !/^error\b/i.test(text)) return text === "" ? "Error" : `Error: ${text}`;
  return text === "" ? "(no output)" : text;
}

function lineOf(block: TextBlock | ImageBlock): string {
  return block.type === "text" ? block.text : "[image: see the user message after the tool results]";
}

function userFields(
  { name }: UserMessage,
  blocks: readonly (TextBlock | ImageBlock)[],
  images: readonly Fields[],
  quirks: ChatQuirks,
): Fields {
  const isPlain = images.length === 0 && blocks.every(({ type }) => type === "text");
  const isNamed = quirks.message_names && name !== undefined && /^[\w-]{1,64}$/.test(name);
  const parts = blocks.map((block) => (block.type === "image" ? imagePart(block) : textPart(block.text)));
  const content = isPlain ? textOf(blocks, "\n") : [...images, ...parts];
  return { role: "user", ...(isNamed ? { name } : {}), content };
}

function textPart(text: string): Fields {
  return { type: "text", text };
}

function imagePart(image: ImageBlock): Fields {
  return { type: "image_url", image_url: { url: imageUrl(image) } };
}
