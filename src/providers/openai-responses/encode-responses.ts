import { defined, isRecord } from "../../core/base/json.ts";
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
import { plainObjectSchema } from "../plain-object-schema.ts";
import { createListSerialiser, listed, serialiseOnce, wellFormedJson } from "../serialise-once.ts";
import {
  imageUrl,
  openAiEndpoint,
  sentToolName,
  toolCallId,
  type WireRequest,
  type WireTarget,
  withoutOmitted,
} from "../wire.ts";

type Fields = Record<string, unknown>;

/**
 * Makes the encoder of one model. Answers are not stored by the provider (`store: false`): reasoning comes
 * encrypted and goes back. `providerOptions.openai_responses` is merged into the body and wins; a `tools`
 * list there is added to the request's tools. Stop sequences have no place in this format. Quirk
 * `encrypted_reasoning: false` is for servers that refuse `include`.
 */
export function createResponsesEncoder(target: WireTarget): (request: ModelRequest) => WireRequest {
  const endpoint = openAiEndpoint(target, "/responses");
  const item = serialiseOnce(writeItems);
  const transcript = createListSerialiser<Message, undefined>(
    {
      initial: undefined,
      append: (text, message) => ({ text: listed(text, item(message)), state: undefined }),
    },
    0,
  );
  const writers: Writers = {
    target,
    transcript: (messages) => transcript(messages).text,
    tool: serialiseOnce(writeTool),
  };
  return (request) => ({ ...endpoint, body: writeBody(request, writers) });
}

interface Writers {
  readonly target: WireTarget;
  readonly transcript: (messages: readonly Message[]) => string;
  readonly tool: (spec: ToolSpec) => string;
}

function writeBody(request: ModelRequest, { target, transcript, tool }: Writers): string {
  const { input: _input, tools: extra, ...options } = request.providerOptions?.["openai_responses"] ?? {};
  const tools = (request.tools ?? []).map(tool);
  if (Array.isArray(extra)) for (const entry of extra) tools.push(JSON.stringify(entry));
  let body = `{"model":${JSON.stringify(target.modelId)}`;
  if (request.system !== undefined && request.system !== "")
    body += `,"instructions":${JSON.stringify(request.system)}`;
  body += `,"input":[${transcript(request.messages)}]`;
  if (tools.length > 0) body += `,"tools":[${tools.join(",")}]`;
  const own = settings(request, target, tools.length > 0);
  const fields: Fields = { ...withoutOmitted(own, target), ...options };
  return `${body},${JSON.stringify(fields).slice(1)}`;
}

function writeTool({ name, description, parameters }: ToolSpec): string {
  return JSON.stringify({
    type: "function",
    name,
    description,
    parameters: plainObjectSchema(parameters),
    strict: false,
  });
}

function settings(request: ModelRequest, target: WireTarget, hasTools: boolean): Fields {
  const fields: Fields = { stream: true, store: false };
  if (reasons(target.modelId)) {
    if (target.quirks?.["encrypted_reasoning"] !== false) fields["include"] = ["reasoning.encrypted_content"];
    const { effort } = request;
    if (effort !== undefined)
      fields["reasoning"] = effort === "none" ? { effort } : { effort, summary: "auto" };
  }
  if (hasTools) addToolSettings(fields, request);
  if (request.maxOutputTokens !== undefined) fields["max_output_tokens"] = request.maxOutputTokens;
  if (request.temperature !== undefined) fields["temperature"] = request.temperature;
  if (request.topP !== undefined) fields["top_p"] = request.topP;
  if (request.sessionId !== undefined) fields["prompt_cache_key"] = request.sessionId.slice(0, 64);
  return fields;
}

function addToolSettings(fields: Fields, { toolChoice, parallelToolCalls }: ModelRequest): void {
  if (toolChoice !== undefined) {
    fields["tool_choice"] =
      typeof toolChoice === "string" ? toolChoice : { type: "function", name: toolChoice.name };
  }
  if (parallelToolCalls === false) fields["parallel_tool_calls"] = false;
}

/** Older families, and the chat variants of later ones, refuse everything about reasoning. */
function reasons(modelId: string): boolean {
  return !/^(?:[^/]*\/)?(?:gpt-[34]|chatgpt-)|-chat(?:-latest)?$/.test(modelId);
}

/** The JSON text of one message of the transcript: any number of input items, separated by commas. */
function writeItems(message: Message): string {
  const items = message.role === "assistant" ? assistantItems(message) : userItems(message);
  return items.map((item) => JSON.stringify(item)).join(",");
}

/**
 * Ids of items stay out: with `store: false` nothing can be looked up by them, and an id without the
 * reasoning item that belonged to it is refused. An item that carries its content encrypted keeps its own.
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
    // Reasoning that nothing follows, as in an answer that was cut, is refused too.
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
      name: sentToolName(name),
      arguments: wellFormedJson(JSON.stringify(input)),
      ...defined({ namespace, caller }),
    };
  }
  const { item, phase, annotations } = block.provider_data?.["openai_responses"] ?? {};
  if (isRecord(item)) return hostedItem(item);
  if (block.text === "") return undefined;
  return {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: block.text, ...defined({ annotations }) }],
    ...defined({ phase }),
  };
}

/** Something the provider did by itself, as it came. */
function hostedItem({ id, ...item }: Fields): Fields {
  return typeof item["encrypted_content"] === "string" ? { id, ...item } : item;
}

/** A reasoning item goes back as it came, when it holds anything a server without memory can read. */
function reasoningItem(block: ThinkingBlock): Fields | undefined {
  const item = block.provider_data?.["openai_responses"]?.["item"];
  if (!isRecord(item)) return undefined;
  const isOpen = Array.isArray(item["content"]) && item["content"].length > 0;
  return typeof item["encrypted_content"] === "string" || isOpen ? { ...item } : undefined;
}

function userItems({ content }: UserMessage): readonly Fields[] {
  const items: Fields[] = [];
  const said: Fields[] = [];
  for (const block of content) {
    if (block.type === "tool_result") items.push(outputItem(block));
    else said.push(inputPart(block));
  }
  if (said.length > 0) items.push({ type: "message", role: "user", content: said });
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
