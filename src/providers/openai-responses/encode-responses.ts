import { isRecord, omitUndefined } from "../../core/base/json.ts";
import { plainObjectSchema } from "../../core/base/plain-object-schema.ts";
import type {
  AssistantBlock,
  AssistantMessage,
  ImageBlock,
  Message,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  UserMessage,
} from "../../core/message/message.ts";
import type { ModelRequest, ToolSpec } from "../../core/model/model.ts";
import { imageUrl, openAiBody, openAiEndpoint, toolCallId, toolSettings } from "../openai-request.ts";
import { memoizeByObject, wellFormedJson } from "../serialise-once.ts";
import { toWireToolName, type WireRequest, type WireTarget } from "../wire.ts";

type Fields = Record<string, unknown>;

/**
 * Creates the encoder for one model. The provider does not store answers (`store: false`): reasoning arrives
 * encrypted and is sent back. `providerOptions.openai_responses` overrides fields of the body; a `tools` list
 * there is appended to the request's tools. Stop sequences are not supported by this format. Quirk
 * `encrypted_reasoning: false` is for servers that refuse `include`.
 */
export function createResponsesEncoder(target: WireTarget): (request: ModelRequest) => WireRequest {
  const endpoint = openAiEndpoint(target, "/responses");
  const item = memoizeByObject(writeItems);
  const tool = memoizeByObject(writeTool);
  return (request) => {
    const { system = "", messages } = request;
    const instructions = system === "" ? "" : `,"instructions":${JSON.stringify(system)}`;
    const items = messages.map(item).filter((text) => text !== "");
    const head = `${instructions},"input":[${items.join(",")}]`;
    const settings = (hasTools: boolean): object => settingsOf(request, target, hasTools);
    const body = { wire: "openai_responses", list: "input", head, tool, settings } as const;
    return { ...endpoint, body: openAiBody(request, target, body) };
  };
}

function writeTool({ name, description, parameters }: ToolSpec): string {
  const schema = plainObjectSchema(parameters);
  return JSON.stringify({ type: "function", name, description, parameters: schema, strict: false });
}

function settingsOf(request: ModelRequest, target: WireTarget, hasTools: boolean): object {
  const { effort, maxOutputTokens, temperature, topP, sessionId } = request;
  const canReason = canReasonWith(target.modelId);
  const isEncrypted = canReason && target.quirks?.["encrypted_reasoning"] !== false;
  const reasoning = effort === "none" ? { effort } : { effort, summary: "auto" };
  return omitUndefined({
    stream: true,
    store: false,
    include: isEncrypted ? ["reasoning.encrypted_content"] : undefined,
    reasoning: canReason && effort !== undefined ? reasoning : undefined,
    ...(hasTools ? toolSettings(request, (name) => ({ type: "function", name })) : {}),
    max_output_tokens: maxOutputTokens,
    temperature,
    top_p: topP,
    prompt_cache_key: sessionId?.slice(0, 64),
  });
}

/** Older families, and the chat variants of later ones, refuse all reasoning options. */
function canReasonWith(modelId: string): boolean {
  return !/^(?:[^/]*\/)?(?:gpt-[34]|chatgpt-)|-chat(?:-latest)?$/.test(modelId);
}

/** One message of the transcript as JSON: any number of input items, separated by commas. */
function writeItems(message: Message): string {
  const items = message.role === "assistant" ? assistantItems(message) : userItems(message);
  return items.map((item) => JSON.stringify(item)).join(",");
}

/**
 * Item ids are omitted: with `store: false` they cannot be looked up, and an id without its reasoning item is
 * refused. An item with encrypted content keeps its id.
 */
function assistantItems({ content }: AssistantMessage): readonly Fields[] {
  const items: Fields[] = [];
  let reasoning: Fields[] = [];
  for (const block of content) {
    if (block.type === "thinking") {
      const item = reasoningItem(block);
      if (item !== undefined) reasoning.push(item);
      continue;
    }
    const item = answerItem(block);
    if (item === undefined) continue;
    // Reasoning that nothing follows, as in a truncated answer, is refused too.
    items.push(...reasoning, item);
    reasoning = [];
  }
  return items;
}

function answerItem(block: Exclude<AssistantBlock, ThinkingBlock>): Fields | undefined {
  if (block.type === "tool_use") {
    const { name, input } = block;
    const { namespace, caller } = block.provider_data?.["openai_responses"] ?? {};
    return {
      type: "function_call",
      call_id: callId(block.id),
      name: toWireToolName(name),
      arguments: wellFormedJson(JSON.stringify(input)),
      ...omitUndefined({ namespace, caller }),
    };
  }
  const { item, phase, annotations } = block.provider_data?.["openai_responses"] ?? {};
  if (isRecord(item)) return hostedItem(item);
  if (block.text === "") return undefined;
  return {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: block.text, ...omitUndefined({ annotations }) }],
    ...omitUndefined({ phase }),
  };
}

function hostedItem({ id, ...item }: Fields): Fields {
  return typeof item["encrypted_content"] === "string" ? { id, ...item } : item;
}

/** Returns a reasoning item unchanged if it holds content that a stateless server can read. */
function reasoningItem(block: ThinkingBlock): Fields | undefined {
  const item = block.provider_data?.["openai_responses"]?.["item"];
  if (!isRecord(item)) return undefined;
  const isOpen = Array.isArray(item["content"]) && item["content"].length > 0;
  return typeof item["encrypted_content"] === "string" || isOpen ? { ...item } : undefined;
}

function userItems({ content }: UserMessage): readonly Fields[] {
  const items: Fields[] = [];
  const parts: Fields[] = [];
  for (const block of content) {
    if (block.type === "tool_result") items.push(outputItem(block));
    else parts.push(inputPart(block));
  }
  if (parts.length > 0) items.push({ type: "message", role: "user", content: parts });
  return items;
}

function outputItem(result: ToolResultBlock): Fields {
  const { content } = result;
  const isPlain = typeof content === "string" || content.every((block) => block.type === "text");
  const text =
    typeof content === "string"
      ? content
      : content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  const failed = result.is_error === true && !/^\s*error\b/i.test(text);
  const base = { type: "function_call_output", call_id: callId(result.tool_use_id) };
  if (isPlain) return { ...base, output: failed ? `Error: ${text}` : text };
  const parts = content.map(inputPart);
  return { ...base, output: failed ? [{ type: "input_text", text: "Error:" }, ...parts] : parts };
}

function inputPart(block: TextBlock | ImageBlock): Fields {
  if (block.type === "text") return { type: "input_text", text: block.text };
  return { type: "input_image", image_url: imageUrl(block), detail: "auto" };
}

function callId(id: string): string {
  return toolCallId(id, 64);
}
