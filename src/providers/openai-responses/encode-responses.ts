import type { Message } from "../../core/message/message.ts";
import type { ModelRequest, ToolSpec } from "../../core/model/model.ts";
import { plainObjectSchema } from "../plain-object-schema.ts";
import { withoutOmitted } from "../refused-field.ts";
import { createListSerialiser, listed, serialiseOnce } from "../serialise-once.ts";
import { openAiEndpoint, type WireRequest, type WireTarget } from "../wire.ts";
import { writeItems } from "./encode-responses-message.ts";

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
