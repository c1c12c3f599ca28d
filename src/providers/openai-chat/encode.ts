import type { Message } from "../../core/message/message.ts";
import type { Effort, ModelRequest, ToolSpec } from "../../core/model/model.ts";
import { openAiEndpoint } from "../openai-endpoint.ts";
import type { WireRequest, WireTarget } from "../wire.ts";
import { writeMessage, type WrittenMessage } from "./encode-message.ts";
import { type ChatQuirks, quirksOf } from "./quirks.ts";

type Fields = Record<string, unknown>;

/**
 * Makes the encoder of one model. `providerOptions.openai_chat` is merged into the body and wins; a `tools` list there is added to
 * the request's tools.
 */
export function createChatEncoder(target: WireTarget): (request: ModelRequest) => WireRequest {
  const quirks = quirksOf(target);
  const endpoint = openAiEndpoint(target, "/chat/completions");
  const messages = new WeakMap<Message, WrittenMessage>();
  const tools = new WeakMap<ToolSpec, string>();
  const written = (message: Message): WrittenMessage => kept(messages, message, () => writeMessage(message, quirks));
  const tool = (spec: ToolSpec): string => kept(tools, spec, () => writeTool(spec));
  return (request) => ({ ...endpoint, body: writeBody(request, { target, quirks, written, tool }) });
}

interface Writers {
  readonly target: WireTarget;
  readonly quirks: ChatQuirks;
  readonly written: (message: Message) => WrittenMessage;
  readonly tool: (spec: ToolSpec) => string;
}

function kept<K extends object, V>(texts: WeakMap<K, V>, key: K, write: () => V): V {
  const known = texts.get(key);
  if (known !== undefined) return known;
  const value = write();
  texts.set(key, value);
  return value;
}

function writeBody(request: ModelRequest, writers: Writers): string {
  const { messages: _messages, tools: extra, ...options } = request.providerOptions?.["openai_chat"] ?? {};
  const texts = (request.tools ?? []).map(writers.tool);
  if (Array.isArray(extra)) for (const entry of extra) texts.push(JSON.stringify(entry));
  const fields: Fields = { ...settings(request, writers.quirks, texts.length > 0), ...options };
  let body = `{"model":${JSON.stringify(writers.target.modelId)},"messages":[${writeMessages(request, writers)}]`;
  if (texts.length > 0) body += `,"tools":[${texts.join(",")}]`;
  const rest = JSON.stringify(fields);
  return rest === "{}" ? `${body}}` : `${body},${rest.slice(1)}`;
}

function writeMessages(request: ModelRequest, { quirks, written }: Writers): string {
  let text = "";
  let held = "";
  const add = (piece: string): void => {
    if (piece !== "") text += text === "" ? piece : `,${piece}`;
  };
  if (request.system !== undefined && request.system !== "") {
    add(JSON.stringify({ role: quirks.systemRole, content: request.system }));
  }
  for (const message of request.messages) {
    const { toolResults, rest } = written(message);
    if (message.role === "assistant") {
      add(held);
      held = "";
      add(rest);
    } else {
      // Results of the same answer may be spread over several user messages: what the user says waits until all are there.
      add(toolResults);
      if (rest !== "") held = held === "" ? rest : `${held},${rest}`;
    }
  }
  add(held);
  return text;
}

function writeTool(spec: ToolSpec): string {
  const { name, description, parameters } = spec;
  return JSON.stringify({ type: "function", function: { name, description, parameters } });
}

function settings(request: ModelRequest, quirks: ChatQuirks, hasTools: boolean): Fields {
  const fields: Fields = { stream: true };
  if (quirks.streamUsage) fields["stream_options"] = { include_usage: true };
  if (hasTools) addToolSettings(fields, request, quirks);
  if (request.maxOutputTokens !== undefined) fields[quirks.maxTokensField] = request.maxOutputTokens;
  if (request.temperature !== undefined) fields["temperature"] = request.temperature;
  if (request.topP !== undefined) fields["top_p"] = request.topP;
  if (request.stopSequences !== undefined && request.stopSequences.length > 0) fields["stop"] = request.stopSequences;
  if (request.effort !== undefined) addEffort(fields, request.effort, quirks);
  if (quirks.promptCacheKey && request.sessionId !== undefined) {
    fields["prompt_cache_key"] = request.sessionId.slice(0, 64);
  }
  return fields;
}

function addToolSettings(fields: Fields, request: ModelRequest, quirks: ChatQuirks): void {
  const { toolChoice, parallelToolCalls } = request;
  if (toolChoice !== undefined) {
    fields["tool_choice"] =
      typeof toolChoice === "string" ? toolChoice : { type: "function", function: { name: toolChoice.name } };
  }
  // Several calls are the default nearly everywhere, and some models refuse the field.
  if (parallelToolCalls === false) fields["parallel_tool_calls"] = false;
  else if (quirks.askForParallelCalls) fields["parallel_tool_calls"] = true;
}

function addEffort(fields: Fields, effort: Effort, quirks: ChatQuirks): void {
  const word = nearestEffort(effort, quirks.efforts);
  switch (quirks.effortFormat) {
    case "reasoning_effort":
      if (word !== undefined) fields["reasoning_effort"] = word;
      return;
    case "reasoning":
      if (word !== undefined) fields["reasoning"] = { effort: word };
      return;
    case "thinking":
      fields["thinking"] = { type: effort === "none" ? "disabled" : "enabled" };
      if (word !== undefined && effort !== "none") fields["reasoning_effort"] = word;
      return;
    case "enable_thinking":
      fields["enable_thinking"] = effort !== "none";
      return;
    case "off":
      return;
  }
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** The vendor's word nearest to `effort`, the stronger of two; `none` is only ever itself. */
function nearestEffort(effort: Effort, known: string): string | undefined {
  const words = known.split(",").filter((word) => word !== "" && (word === "none") === (effort === "none"));
  const distance = (word: string): number => Math.abs(EFFORTS.indexOf(word) - EFFORTS.indexOf(effort) - 0.1);
  return words.toSorted((left, right) => distance(left) - distance(right))[0];
}
