import { invalidArgument, type Json, type JsonObject } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import {
  type AssistantBlock,
  type AssistantMessage,
  type ImageBlock,
  type Message,
  type ToolResultBlock,
  textOf,
  toolCallsOf,
  type UserBlock,
  type UserMessage,
} from "../../core/message/message.ts";
import type { Effort, ModelRequest, ToolSpec } from "../../core/model/model.ts";
import { memoizeByObject } from "../serialise-once.ts";
import { imagesOf, toWireToolName, type WireRequest, type WireTarget, wireHeaders } from "../wire.ts";
import type { GooglePart, GoogleProviderData } from "./google-json.ts";

/**
 * Creates the encoder for one model and `POST {base}/models/{id}:streamGenerateContent?alt=sse`.
 *
 * - Consecutive messages of one role are merged; a message with nothing to send is left out. Throws
 *   `invalid_argument` if nothing at all is left.
 * - Thought signatures return on their parts. Gemini 3 and later refuse a step whose first call has none (in
 *   a transcript of another provider): it gets the value Google documents for this case,
 *   `skip_thought_signature_validator`.
 * - Thought summaries without a signature, and thinking of other wires, are not sent.
 * - Images in tool results are parts of the function response (Gemini 3 and later), else they follow all
 *   responses.
 * - `parallelToolCalls` and `sessionId` are not supported by this format.
 * - `providerOptions.google` is merged into the body: `generationConfig` and `toolConfig` field by field,
 *   `tools` is appended.
 *
 * Quirk: `functionCallIds: false` (Vertex AI refuses ids).
 */
export function createGoogleEncoder(target: WireTarget): (request: ModelRequest) => WireRequest {
  const modelId = target.modelId.toLowerCase();
  const hasSystemInstruction = !/gemma-3/.test(modelId);
  const options: ContentsForm = {
    isModern: !isOld(modelId),
    withIds: target.quirks?.["functionCallIds"] !== false,
  };
  const transcript = createContentsWriter(options);
  const declaration = memoizeByObject(writeDeclaration);
  const url = urlFor(target);
  const headers = wireHeaders(target, { "x-goog-api-key": target.apiKey || undefined });
  return (request) => {
    const { system = "", messages } = request;
    const options = request.providerOptions?.["google"] ?? {};
    const contents = withPreamble(transcript(messages), hasSystemInstruction ? "" : system);
    if (contents === "")
      throw invalidArgument("The request has no text, image or tool result to send. Add a message.");
    let body = `{"contents":[${startingWithUser(contents)}]`;
    if (hasSystemInstruction && system !== "")
      body += `,"systemInstruction":{"parts":[{"text":${JSON.stringify(system)}}]}`;
    const declared = (request.tools ?? []).map(declaration);
    const tools = declared.length === 0 ? [] : [`{"functionDeclarations":[${declared.join(",")}]}`];
    for (const item of jsonList(options["tools"])) tools.push(JSON.stringify(item));
    if (tools.length > 0) body += `,"tools":[${tools.join(",")}]`;
    for (const [name, value] of Object.entries(settings(request, modelId, options)))
      if (value !== undefined) body += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
    return { url, headers, body: `${body}}` };
  };
}

/** Keeps a query in the base URL, and adds a version to a path without one. */
function urlFor({ baseUrl, modelId }: WireTarget): string {
  const [base = "", query] = baseUrl.split("?", 2);
  const path = base.replace(/\/+$/, "");
  const versioned = /\/v\d+(?:(?:alpha|beta)\d*)?(?:\/|$)/.test(path) ? path : `${path}/v1beta`;
  const model = modelId.split("/").map(encodeURIComponent).join("/");
  const named = modelId.includes("/") ? model : `models/${model}`;
  const extra = query === undefined ? "" : `&${query}`;
  return `${versioned}/${named}:streamGenerateContent?alt=sse${extra}`;
}

function settings(request: ModelRequest, modelId: string, options: JsonObject): JsonObject {
  const { tools: _tools, contents: _contents, generationConfig, toolConfig, ...rest } = options;
  const { stopSequences = [], maxOutputTokens, temperature, topP, effort } = request;
  const generation: JsonObject = {
    maxOutputTokens,
    temperature,
    topP,
    stopSequences: stopSequences.length > 0 ? stopSequences : undefined,
    thinkingConfig: thinkingConfig(effort, modelId),
    ...asObject(generationConfig),
  };
  const calling: JsonObject = { ...callingConfig(request), ...asObject(toolConfig) };
  return {
    toolConfig: Object.keys(calling).length > 0 ? calling : undefined,
    generationConfig: Object.values(generation).some((value) => value !== undefined) ? generation : undefined,
    ...rest,
  };
}

function callingConfig({ tools = [], toolChoice = "auto" }: ModelRequest): JsonObject {
  if (tools.length === 0 || toolChoice === "auto") return {};
  if (toolChoice === "none") return { functionCallingConfig: { mode: "NONE" } };
  if (toolChoice === "required") return { functionCallingConfig: { mode: "ANY" } };
  return { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [toolChoice.name] } };
}

function asObject(value: Json | undefined): JsonObject {
  return isRecord(value) ? value : {};
}

function jsonList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** Without arguments there are no parameters. */
function writeDeclaration({ name, description, parameters }: ToolSpec): string {
  const declared = hasNoParameters(parameters) ? {} : { parametersJsonSchema: parameters };
  return JSON.stringify({ name, description, ...declared });
}

function hasNoParameters(schema: JsonSchema): boolean {
  return Object.entries(schema).every(([key, value]) => {
    if (key === "properties" || key === "required") return Object.keys(Object(value)).length === 0;
    if (key === "additionalProperties") return value === false;
    return ["type", "title", "description", "$schema"].includes(key);
  });
}

const USER = '{"role":"user","parts":[';
const MODEL = '{"role":"model","parts":[';

function withPreamble(contents: string, preamble: string): string {
  if (preamble === "") return contents;
  const first = `${USER}${JSON.stringify({ text: preamble })}`;
  if (contents.startsWith(USER)) return `${first},${contents.slice(USER.length)}`;
  return contents === "" ? `${first}]}` : `${first}]},${contents}`;
}

/** Contents that begin with an answer, e.g. a greeting, get a user text in front. */
function startingWithUser(contents: string): string {
  return contents.startsWith(MODEL)
    ? `${USER}{"text":"(The conversation begins with your message.)"}]},${contents}`
    : contents;
}

function googleData(block: AssistantBlock | undefined): GoogleProviderData | undefined {
  return block?.provider_data?.["google"];
}

interface ContentsForm {
  /** Gemini 3 and later: images inside function responses, calls with a signature. */
  readonly isModern: boolean;
  readonly withIds: boolean;
}

type CallNames = ReadonlyMap<string, string>;

/** Messages as contents; adjacent ones of one role are merged. Each message is serialised once. */
function createContentsWriter(options: ContentsForm): (messages: readonly Message[]) => string {
  const answers = memoizeByObject(({ content }: AssistantMessage) => toJson(modelParts(content, options)));
  // Results name their calls, which are in another message.
  const users = new WeakMap<UserMessage, { readonly names: string; readonly text: string }>();
  const userText = (message: UserMessage, calls: CallNames): string => {
    const names = message.content.map((block) => callName(block, calls)).join("\n");
    let known = users.get(message);
    if (known?.names !== names) known = { names, text: toJson(userParts(message.content, calls, options)) };
    users.set(message, known);
    return known.text;
  };
  return (messages) => {
    const calls = new Map<string, string>();
    let text = "";
    let previousRole: Message["role"] | undefined;
    for (const message of messages) {
      const { role } = message;
      const parts = role === "user" ? userText(message, calls) : answers(message);
      if (role === "assistant")
        for (const { id, name } of toolCallsOf(message)) calls.set(id, toWireToolName(name));
      if (parts === "") continue;
      const opened = `${role === "user" ? USER : MODEL}${parts}`;
      text += role === previousRole ? `,${parts}` : `${previousRole === undefined ? "" : "]},"}${opened}`;
      previousRole = role;
    }
    return text === "" ? "" : `${text}]}`;
  };
}

function toJson(parts: readonly GooglePart[]): string {
  return parts.map((part) => JSON.stringify(part)).join(",");
}

function userParts(
  blocks: readonly UserBlock[],
  calls: CallNames,
  options: ContentsForm,
): readonly GooglePart[] {
  const responses: GooglePart[] = [];
  const promoted: GooglePart[] = [];
  const rest: GooglePart[] = [];
  for (const block of blocks) {
    if (block.type === "image") rest.push(mediaPart(block));
    else if (block.type === "text") {
      if (block.text !== "") rest.push({ text: block.text });
    } else {
      const name = callName(block, calls);
      const images = imagesOf(block).map(mediaPart);
      responses.push(functionResponse(block, name, images, options));
      // Older models accept no images inside.
      if (!options.isModern && images.length > 0) promoted.push({ text: `Result of ${name}:` }, ...images);
    }
  }
  return [...responses, ...promoted, ...rest];
}

function functionResponse(
  { tool_use_id: id, content, is_error }: ToolResultBlock,
  name: string,
  images: readonly GooglePart[],
  { isModern, withIds }: ContentsForm,
): GooglePart {
  const hasText = typeof content === "string" || content.some(({ type }) => type === "text");
  const output = !hasText && images.length > 0 ? "See the image." : textOf(content, "\n");
  return {
    functionResponse: {
      ...(withIds ? { id } : {}),
      name,
      response: is_error === true ? { error: output } : { output },
      ...(isModern && images.length > 0 ? { parts: images } : {}),
    },
  };
}

/** The name of the call that a result answers; empty for other blocks. */
function callName(block: UserBlock, calls: CallNames): string {
  return block.type === "tool_result" ? (calls.get(block.tool_use_id) ?? "unknown_tool") : "";
}

function mediaPart({ source }: ImageBlock): GooglePart {
  if (source.type === "base64") return { inlineData: { mimeType: source.media_type, data: source.data } };
  const [, inlineType, data = ""] = /^data:([^;,]+);base64,(.*)$/s.exec(source.url) ?? [];
  if (inlineType !== undefined) return { inlineData: { mimeType: inlineType, data } };
  const [, extension] = /\.(png|jpe?g|webp|gif|heic|heif)(?:[?#]|$)/i.exec(source.url) ?? [];
  const type = extension?.toLowerCase().replace("jpg", "jpeg");
  return { fileData: { ...(type === undefined ? {} : { mimeType: `image/${type}` }), fileUri: source.url } };
}

/** Replaces a missing signature: https://ai.google.dev/gemini-api/docs/thought-signatures. */
const SKIP_SIGNATURE = { thoughtSignature: "skip_thought_signature_validator" };

function modelParts(
  blocks: readonly AssistantBlock[],
  { isModern, withIds }: ContentsForm,
): readonly GooglePart[] {
  const parts: GooglePart[] = [];
  const firstCall = blocks.find(({ type }) => type === "tool_use");
  for (const block of blocks) {
    const { thoughtSignature, thought, part } = googleData(block) ?? {};
    const signed = thoughtSignature === undefined ? {} : { thoughtSignature };
    if (block.type === "tool_use") {
      const { id, name, input } = block;
      const functionCall = { ...(withIds ? { id } : {}), name: toWireToolName(name), args: input };
      parts.push({ functionCall, ...(isModern && block === firstCall ? SKIP_SIGNATURE : {}), ...signed });
    } else if (part !== undefined) parts.push(part);
    else if (block.type === "text") {
      if (block.text !== "" || thoughtSignature !== undefined) parts.push({ text: block.text, ...signed });
    } else if (thoughtSignature !== undefined) {
      parts.push({ text: block.thinking, ...(thought === true ? { thought } : {}), ...signed });
    }
  }
  return parts;
}

/**
 * True for models before Gemini 3 and those that are not Gemini (Gemma, tuned models). Unknown Gemini ids and
 * the `-latest` aliases count as the newest generation.
 */
function isOld(id: string): boolean {
  const version = /(?:^|[/.])gemini-(\d+)/.exec(id);
  if (version !== null && Number(version[1]) < 3) return true;
  return !/(?:^|[/.])gemini-/.test(id) || /gemini-(?:pro(?:-vision)?$|robotics-er-1)/.test(id);
}

/**
 * The thinking configuration for an effort: a token budget (2.5) or a level (3 and later). `undefined` (the
 * model's own default) without an effort and for models that do not think. If thinking cannot be disabled,
 * `none` is the minimum. Thought summaries are requested unless `none`. Source:
 * https://ai.google.dev/gemini-api/docs/thinking.
 */
function thinkingConfig(effort: Effort | undefined, id: string): JsonObject | undefined {
  if (effort === undefined) return undefined;
  const includeThoughts = effort !== "none";
  if (/gemini-2\.5/.test(id) && !/-(?:image|tts|native-audio|computer-use)/.test(id)) {
    const [least, most] = id.includes("2.5-pro") ? [128, 32_768] : [0, 24_576];
    return { includeThoughts, thinkingBudget: Math.min(most, Math.max(least, BUDGETS[effort])) };
  }
  if (isOld(id) || /-(?:image|tts)/.test(id)) return undefined;
  const at = LEVELS.indexOf(effort === "none" ? "minimal" : effort);
  // The level itself, else the next higher one the model supports.
  const level = levelsOf(id).find((each) => LEVELS.indexOf(each) >= at) ?? "high";
  return { includeThoughts, thinkingLevel: level.toUpperCase() };
}

const BUDGETS: { readonly [E in Effort]: number } = {
  none: 0,
  minimal: 512,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
};

const LEVELS: readonly string[] = ["minimal", "low", "medium", "high", "xhigh"];

/** The levels a model supports, in ascending order. */
function levelsOf(id: string): readonly string[] {
  if (/gemini-3-pro/.test(id)) return ["low", "high"];
  const isPro = /gemini-(?:\d+(?:\.\d+)?-)?pro/.test(id);
  const flash = /gemini-(\d+)\.(\d+)-flash(?!-lite)/.exec(id);
  const isNewFlash = flash !== null && Number(flash[1]) * 100 + Number(flash[2]) >= 307;
  const isNewer = /gemini-[4-9]/.test(id) || /gemini-flash-latest/.test(id);
  return isPro || isNewFlash || isNewer ? ["low", "medium", "high"] : ["minimal", "low", "medium", "high"];
}
