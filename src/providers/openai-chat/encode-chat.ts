import type { Message } from "../../core/message/message.ts";
import { EFFORTS, type Effort, type ModelRequest, type ToolSpec } from "../../core/model/model.ts";
import { plainObjectSchema } from "../plain-object-schema.ts";
import { withoutOmitted } from "../refused-field.ts";
import { createListSerialiser, listed, serialiseOnce } from "../serialise-once.ts";
import { openAiEndpoint, type WireRequest, type WireTarget } from "../wire.ts";
import { markedContent, type WrittenMessage, writeMessage } from "./encode-chat-message.ts";
import { type ChatQuirks, quirksOf } from "./quirks.ts";

type Fields = Record<string, unknown>;

/**
 * Makes the encoder of one model. `providerOptions.openai_chat` is merged into the body and wins; a `tools`
 * list there is added to the request's tools.
 */
export function createChatEncoder(target: WireTarget): (request: ModelRequest) => WireRequest {
  const quirks = quirksOf(target);
  const endpoint = openAiEndpoint(target, "/chat/completions");
  const transcript = createTranscriptWriter(quirks);
  const tool = serialiseOnce(writeTool);
  return (request) => ({ ...endpoint, body: writeBody(request, { target, quirks, transcript, tool }) });
}

interface Writers {
  readonly target: WireTarget;
  readonly quirks: ChatQuirks;
  readonly transcript: (messages: readonly Message[]) => string;
  readonly tool: (spec: ToolSpec) => string;
}

function writeBody(request: ModelRequest, writers: Writers): string {
  const { messages: _messages, tools: extra, ...options } = request.providerOptions?.["openai_chat"] ?? {};
  const texts = (request.tools ?? []).map(writers.tool);
  if (Array.isArray(extra)) for (const entry of extra) texts.push(JSON.stringify(entry));
  const own = settings(request, writers.quirks, texts.length > 0);
  const fields: Fields = { ...withoutOmitted(own, writers.target), ...options };
  const system = request.system ? writeSystem(request.system, writers.quirks) : "";
  const messages = listed(system, writers.transcript(request.messages));
  let body = `{"model":${JSON.stringify(writers.target.modelId)},"messages":[${messages}]`;
  if (texts.length > 0) body += `,"tools":[${texts.join(",")}]`;
  const rest = JSON.stringify(fields);
  return rest === "{}" ? `${body}}` : `${body},${rest.slice(1)}`;
}

function writeSystem(system: string, { system_role: role, cache_marks }: ChatQuirks): string {
  return JSON.stringify({ role, content: cache_marks === "none" ? system : markedContent(system) });
}

/** The messages that may still change their text: the last two of the user carry the marks for caching. */
const TAIL = 4;
const MAX_MARKED = 2;

/**
 * Messages as JSON texts, separated by commas. Results of one answer may be spread over several user
 * messages: what the user says beside them is held back until the next answer, or the end.
 */
function createTranscriptWriter(quirks: ChatQuirks): (messages: readonly Message[]) => string {
  const written = serialiseOnce((message: Message) => writeMessage(message, quirks));
  const append = (
    text: string,
    held: string,
    { toolResults, rest }: WrittenMessage,
    role: Message["role"],
  ) =>
    role === "assistant"
      ? { text: listed(listed(text, held), rest), state: "" }
      : { text: listed(text, toolResults), state: listed(held, rest) };
  const list = createListSerialiser<Message, string>(
    { initial: "", append: (text, message, held) => append(text, held, written(message), message.role) },
    quirks.cache_marks === "none" ? 0 : TAIL,
  );
  return (messages) => {
    const head = list(messages);
    let { text, state } = head;
    const tail = messages.slice(head.written);
    const marked = tail.filter(({ role }) => role === "user").slice(-MAX_MARKED);
    for (const message of tail) {
      const isMarked = message.role === "user" && marked.includes(message);
      const each = isMarked ? writeMessage(message, quirks, true) : written(message);
      ({ text, state } = append(text, state, each, message.role));
    }
    return listed(text, state);
  };
}

function writeTool(spec: ToolSpec): string {
  const { name, description, parameters } = spec;
  return JSON.stringify({
    type: "function",
    function: { name, description, parameters: plainObjectSchema(parameters) },
  });
}

function settings(request: ModelRequest, quirks: ChatQuirks, hasTools: boolean): Fields {
  const fields: Fields = { stream: true };
  if (quirks.stream_usage) fields["stream_options"] = { include_usage: true };
  if (hasTools) addToolSettings(fields, request, quirks);
  if (request.maxOutputTokens !== undefined) fields[quirks.max_tokens_field] = request.maxOutputTokens;
  if (request.temperature !== undefined) fields["temperature"] = request.temperature;
  if (request.topP !== undefined) fields["top_p"] = request.topP;
  if (request.stopSequences !== undefined && request.stopSequences.length > 0)
    fields["stop"] = request.stopSequences;
  if (request.effort !== undefined) addEffort(fields, request.effort, quirks);
  if (quirks.prompt_cache_key && request.sessionId !== undefined) {
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
  else if (quirks.ask_for_parallel_calls) fields["parallel_tool_calls"] = true;
}

function addEffort(fields: Fields, effort: Effort, quirks: ChatQuirks): void {
  const word = nearestEffort(effort, quirks.efforts);
  switch (quirks.effort_format) {
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

const WORDS: readonly string[] = [...EFFORTS, "max"];

/** The vendor's word nearest to `effort`, the stronger of two; `none` is only ever itself. */
function nearestEffort(effort: Effort, known: string): string | undefined {
  const words = known.split(",").filter((word) => word !== "" && (word === "none") === (effort === "none"));
  const distance = (word: string): number => Math.abs(WORDS.indexOf(word) - WORDS.indexOf(effort) - 0.1);
  return words.toSorted((left, right) => distance(left) - distance(right))[0];
}
