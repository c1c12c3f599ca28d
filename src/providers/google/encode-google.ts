import { type Json, type JsonObject, misuse } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type {
  AssistantBlock,
  ImageBlock,
  Message,
  TextBlock,
  ToolResultBlock,
  UserBlock,
} from "../../core/message/message.ts";
import type { Effort, ModelRequest, ToolSpec } from "../../core/model/model.ts";
import { createListSerialiser, serialiseOnce } from "../serialise-once.ts";
import { sentToolName, type WireRequest, type WireTarget, wireHeaders } from "../wire.ts";
import type { GoogleMediaPart, GooglePart, GoogleProviderData } from "./google-json.ts";
import { toOpenApiSchema } from "./google-schema.ts";

/**
 * Makes the encoder of one model for `POST {base}/models/{id}:streamGenerateContent?alt=sse`.
 *
 * - Consecutive messages of one role are merged; a message that has nothing to send is left out. Nothing at
 *   all to send throws `invalid_argument`.
 * - Thought signatures return on their parts. Gemini 3 and later refuse a step whose first call has none (a
 *   transcript of another provider): it gets the value Google documents for that,
 *   `skip_thought_signature_validator`.
 * - Thought summaries without a signature, and thinking of other wires, are not sent.
 * - Images in tool results are parts of the function response (Gemini 3 and later), else they follow all
 *   responses.
 * - `parallelToolCalls` and `sessionId` have no place in this format.
 * - `providerOptions.google` is merged into the body: `generationConfig` and `toolConfig` field by field,
 *   `tools` is appended.
 *
 * Quirks: `openApiParameters` (send `parameters` instead of `parametersJsonSchema`), `functionCallIds: false`
 * (Vertex AI refuses ids).
 */
export function createGoogleEncoder(target: WireTarget): (request: ModelRequest) => WireRequest {
  const traits = googleModelTraits(target.modelId);
  const withIds = target.quirks?.["functionCallIds"] !== false;
  const openApi = target.quirks?.["openApiParameters"] === true;
  const writeContents = createContentsWriter({ traits, withIds });
  const declaration = serialiseOnce((tool: ToolSpec) => writeDeclaration(tool, openApi));
  const url = urlFor(target);
  const headers = wireHeaders(target, { "x-goog-api-key": target.apiKey || undefined });
  return (request) => {
    const options = request.providerOptions?.["google"] ?? {};
    const preamble = traits.systemInstruction ? undefined : request.system;
    const contents = writeContents(request.messages, preamble);
    if (contents === "")
      throw misuse("The request has no text, image or tool result to send. Add a message.");
    let body = `{"contents":[${beginningWithUser(contents)}]`;
    if (traits.systemInstruction && request.system !== undefined && request.system !== "") {
      body += `,"systemInstruction":{"parts":[{"text":${JSON.stringify(request.system)}}]}`;
    }
    const tools = writeTools(request.tools?.map(declaration), options["tools"]);
    if (tools !== "") body += `,"tools":[${tools}]`;
    for (const [name, value] of Object.entries(settings(request, traits, options))) {
      if (value !== undefined) body += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
    }
    return { url, headers, body: `${body}}` };
  };
}

/** A query of the base URL is kept, and a version is added to a path that has none. */
function urlFor({ baseUrl, modelId }: WireTarget): string {
  const [base = "", query] = baseUrl.split("?", 2);
  const path = base.replace(/\/+$/, "");
  const versioned = /\/v\d+(?:(?:alpha|beta)\d*)?(?:\/|$)/.test(path) ? path : `${path}/v1beta`;
  const extra = query === undefined ? "" : `&${query}`;
  return `${versioned}/${modelPath(modelId)}:streamGenerateContent?alt=sse${extra}`;
}

function modelPath(modelId: string): string {
  const path = modelId.split("/").map(encodeURIComponent).join("/");
  return modelId.includes("/") ? path : `models/${path}`;
}

function settings(request: ModelRequest, traits: GoogleModelTraits, options: JsonObject): JsonObject {
  const { tools: _tools, contents: _contents, generationConfig, toolConfig, ...rest } = options;
  const generation: JsonObject = {
    maxOutputTokens: request.maxOutputTokens,
    temperature: request.temperature,
    topP: request.topP,
    stopSequences:
      request.stopSequences !== undefined && request.stopSequences.length > 0
        ? request.stopSequences
        : undefined,
    thinkingConfig: thinkingConfig(request.effort, traits),
    ...asObject(generationConfig),
  };
  const calling: JsonObject = { ...callingConfig(request), ...asObject(toolConfig) };
  return {
    toolConfig: Object.keys(calling).length > 0 ? calling : undefined,
    generationConfig: Object.values(generation).some((value) => value !== undefined) ? generation : undefined,
    continuationToken: continuationToken(request.messages),
    ...rest,
  };
}

function callingConfig({ tools, toolChoice }: ModelRequest): JsonObject {
  if (tools === undefined || tools.length === 0 || toolChoice === undefined || toolChoice === "auto")
    return {};
  if (toolChoice === "none") return { functionCallingConfig: { mode: "NONE" } };
  if (toolChoice === "required") return { functionCallingConfig: { mode: "ANY" } };
  return { functionCallingConfig: { mode: "ANY", allowedFunctionNames: [toolChoice.name] } };
}

function asObject(value: Json | undefined): JsonObject {
  return isRecord(value) ? value : {};
}

function writeTools(declarations: readonly string[] = [], extra: Json | undefined): string {
  const items = declarations.length === 0 ? [] : [`{"functionDeclarations":[${declarations.join(",")}]}`];
  if (Array.isArray(extra)) for (const item of extra as readonly Json[]) items.push(JSON.stringify(item));
  return items.join(",");
}

/** Without arguments there are no parameters: the OpenAPI subset refuses an object without properties. */
function writeDeclaration({ name, description, parameters }: ToolSpec, openApi: boolean): string {
  if (!openApi) {
    return JSON.stringify({
      name,
      description,
      ...(takesNothing(parameters) ? {} : { parametersJsonSchema: parameters }),
    });
  }
  const schema = toOpenApiSchema(parameters);
  return JSON.stringify({
    name,
    description,
    ...(schema["properties"] === undefined ? {} : { parameters: schema }),
  });
}

function takesNothing(schema: JsonSchema): boolean {
  return Object.entries(schema).every(([key, value]) => {
    if (key === "properties" || key === "required") return Object.keys(Object(value)).length === 0;
    if (key === "additionalProperties") return value === false;
    return ["type", "title", "description", "$schema"].includes(key);
  });
}

/** How contents are written. `withIds`: whether calls and responses carry their ids. */
interface ContentsOptions {
  readonly traits: GoogleModelTraits;
  readonly withIds: boolean;
}

/** Writes the items of `contents` without brackets, each message once; `preamble` is text before all. */
function createContentsWriter(
  options: ContentsOptions,
): (messages: readonly Message[], preamble?: string) => string {
  const transcript = createListSerialiser<Message, WrittenContents>(
    {
      initial: { role: undefined, calls: undefined },
      append: (text, message, state) => append(text, message, { state, options }),
    },
    0,
  );
  return (messages, preamble = "") => {
    const { text } = transcript(withoutPaused(messages));
    const contents = text === "" ? "" : `${text}]}`;
    if (preamble === "") return contents;
    const first = `${USER}${JSON.stringify({ text: preamble })}`;
    if (contents.startsWith(USER)) return `${first},${contents.slice(USER.length)}`;
    return contents === "" ? `${first}]}` : `${first}]},${contents}`;
  };
}

/** Contents that begin with an answer, a greeting say, get a word of the user in front. */
function beginningWithUser(contents: string): string {
  if (!contents.startsWith(MODEL)) return contents;
  return `${USER}{"text":"(The conversation begins with your message.)"}]},${contents}`;
}

/** The token of the answer at the end that the provider paused; `undefined` when there is none. */
function continuationToken(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  return last?.role === "assistant" ? googleData(last.content.at(-1))?.continuationToken : undefined;
}

const USER = '{"role":"user","parts":[';
const MODEL = '{"role":"model","parts":[';

/** State after some messages: whose parts are open at the end, and the answers, the last one first. */
interface WrittenContents {
  readonly role: Message["role"] | undefined;
  readonly calls: Answers | undefined;
}

interface Answers {
  readonly blocks: readonly AssistantBlock[];
  readonly before: Answers | undefined;
}

function append(
  before: string,
  message: Message,
  { state, options }: { readonly state: WrittenContents; readonly options: ContentsOptions },
): { readonly text: string; readonly state: WrittenContents } {
  const { role } = message;
  const calls = role === "assistant" ? { blocks: message.content, before: state.calls } : state.calls;
  const list =
    role === "user" ? userParts(message.content, calls, options) : modelParts(message.content, options);
  if (list.length === 0) return { text: before, state: { role: state.role, calls } };
  const parts = list.map((part) => JSON.stringify(part)).join(",");
  if (role === state.role) return { text: `${before},${parts}`, state: { role, calls } };
  const opened = `${role === "user" ? USER : MODEL}${parts}`;
  return { text: state.role === undefined ? opened : `${before}]},${opened}`, state: { role, calls } };
}

/** An answer that is being continued is not sent: its token stands for it. */
function withoutPaused(messages: readonly Message[]): readonly Message[] {
  if (continuationToken(messages) === undefined) return messages;
  return messages.slice(0, messages.findLastIndex(({ role }) => role === "user") + 1);
}

function googleData(block: AssistantBlock | undefined): GoogleProviderData | undefined {
  return block?.provider_data?.["google"];
}

function userParts(
  blocks: readonly UserBlock[],
  calls: Answers | undefined,
  options: ContentsOptions,
): readonly GooglePart[] {
  const responses: GooglePart[] = [];
  const promoted: GooglePart[] = [];
  const rest: GooglePart[] = [];
  for (const block of blocks) {
    if (block.type === "tool_result") {
      const { response, images } = functionResponse(block, callName(block.tool_use_id, calls), options);
      responses.push(response);
      promoted.push(...images);
    } else if (block.type === "image") rest.push(mediaPart(block));
    else if (block.text !== "") rest.push({ text: block.text });
  }
  return [...responses, ...promoted, ...rest];
}

/** The response, and the images that have to follow it because the model takes none inside. */
function functionResponse(
  { tool_use_id: id, content, is_error }: ToolResultBlock,
  name: string,
  { traits, withIds }: ContentsOptions,
): { readonly response: GooglePart; readonly images: readonly GooglePart[] } {
  const items = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const images = items.filter((item): item is ImageBlock => item.type === "image").map(mediaPart);
  const texts = items.filter((item): item is TextBlock => item.type === "text").map((item) => item.text);
  const inside = traits.functionResponseParts && images.length > 0;
  const output = texts.length === 0 && images.length > 0 ? "See the image." : texts.join("\n");
  const response = {
    functionResponse: {
      ...(withIds ? { id } : {}),
      name,
      response: is_error === true ? { error: output } : { output },
      ...(inside ? { parts: images } : {}),
    },
  };
  return {
    response,
    images: inside || images.length === 0 ? [] : [{ text: `Result of ${name}:` }, ...images],
  };
}

/** The name of the call a result belongs to: nearly always in the last answer. */
function callName(id: string, calls: Answers | undefined): string {
  for (let answer = calls; answer !== undefined; answer = answer.before) {
    for (const block of answer.blocks)
      if (block.type === "tool_use" && block.id === id) return sentToolName(block.name);
  }
  return "unknown_tool";
}

function mediaPart({ source }: ImageBlock): GoogleMediaPart {
  if (source.type === "base64") return { inlineData: { mimeType: source.media_type, data: source.data } };
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(source.url);
  if (inline !== null) return { inlineData: { mimeType: inline[1] ?? "", data: inline[2] ?? "" } };
  const extension = /\.(png|jpe?g|webp|gif|heic|heif)(?:[?#]|$)/i.exec(source.url)?.[1]?.toLowerCase();
  const mimeType =
    extension === undefined ? {} : { mimeType: `image/${extension === "jpg" ? "jpeg" : extension}` };
  return { fileData: { ...mimeType, fileUri: source.url } };
}

function modelParts(
  blocks: readonly AssistantBlock[],
  { traits, withIds }: ContentsOptions,
): readonly GooglePart[] {
  const parts: GooglePart[] = [];
  const firstCall = blocks.find(({ type }) => type === "tool_use");
  for (const block of blocks) {
    const { thoughtSignature, thought, part } = googleData(block) ?? {};
    const signed = thoughtSignature === undefined ? {} : { thoughtSignature };
    if (block.type === "tool_use") {
      const functionCall = {
        ...(withIds ? { id: block.id } : {}),
        name: sentToolName(block.name),
        args: block.input,
      };
      const needed = traits.needsSignature && block === firstCall ? { thoughtSignature: SKIP } : {};
      parts.push({ functionCall, ...needed, ...signed });
    } else if (part !== undefined) parts.push(part);
    else if (block.type === "text") {
      if (block.text !== "" || thoughtSignature !== undefined) parts.push({ text: block.text, ...signed });
    } else if (thoughtSignature !== undefined) {
      parts.push({ text: block.thinking, ...(thought === true ? { thought } : {}), ...signed });
    }
  }
  return parts;
}

/** Stands in for a missing signature: https://ai.google.dev/gemini-api/docs/thought-signatures. */
const SKIP = "skip_thought_signature_validator";

/** The request shapes a Google model takes, by its id. */
interface GoogleModelTraits {
  /** By a token budget (2.5), by a level (3 and later), not at all (before, and Gemma). */
  readonly thinking: "budget" | "level" | "none";
  /** Smallest and largest `thinkingBudget`; a minimum above 0 cannot be switched off. */
  readonly minBudget: number;
  readonly maxBudget: number;
  /** Levels the model knows, in rising order. */
  readonly levels: readonly ThinkingLevel[];
  /** True when images may be parts of a function response. */
  readonly functionResponseParts: boolean;
  /** True when a step whose first call has no thought signature is refused. */
  readonly needsSignature: boolean;
  readonly systemInstruction: boolean;
}

/** Values of `thinkingConfig.thinkingLevel`. */
type ThinkingLevel = "MINIMAL" | "LOW" | "MEDIUM" | "HIGH";

/**
 * Traits by model id. Unknown Gemini ids and the `-latest` aliases count as the newest generation, ids that
 * are no Gemini (Gemma, tuned models) as the oldest. Sources: https://ai.google.dev/gemini-api/docs/thinking,
 * /thought-signatures and /function-calling.
 */
export function googleModelTraits(modelId: string): GoogleModelTraits {
  const id = modelId.toLowerCase();
  const version = /(?:^|[/.])gemini-(\d+)(?:\.(\d+))?/.exec(id);
  const isGemini = /(?:^|[/.])gemini-/.test(id);
  const isOld =
    !isGemini ||
    (version !== null && Number(version[1]) < 3) ||
    /gemini-(?:pro(?:-vision)?$|robotics-er-1)/.test(id);
  const isBudget = /gemini-2\.5/.test(id) && !/-(?:image|tts|native-audio|computer-use)/.test(id);
  const noThinking = isOld || /-(?:image|tts)/.test(id);
  return {
    thinking: isBudget ? "budget" : noThinking ? "none" : "level",
    minBudget: id.includes("2.5-pro") ? 128 : 0,
    maxBudget: id.includes("2.5-pro") ? 32_768 : 24_576,
    levels: levels(id),
    functionResponseParts: !isOld,
    needsSignature: !isOld,
    systemInstruction: !/gemma-3/.test(id),
  };
}

function levels(id: string): readonly ThinkingLevel[] {
  if (/gemini-3-pro/.test(id)) return ["LOW", "HIGH"];
  const isPro = /gemini-(?:\d+(?:\.\d+)?-)?pro/.test(id);
  const flash = /gemini-(\d+)\.(\d+)-flash(?!-lite)/.exec(id);
  const isNewFlash = flash !== null && Number(flash[1]) * 100 + Number(flash[2]) >= 307;
  const isNewer = /gemini-[4-9]/.test(id) || /gemini-flash-latest/.test(id);
  return isPro || isNewFlash || isNewer ? ["LOW", "MEDIUM", "HIGH"] : ["MINIMAL", "LOW", "MEDIUM", "HIGH"];
}

/** `generationConfig.thinkingConfig` as this wire sends it: a budget in tokens or a level, never both. */
type GoogleThinkingConfig =
  | { readonly includeThoughts: boolean; readonly thinkingBudget: number }
  | { readonly includeThoughts: boolean; readonly thinkingLevel: ThinkingLevel };

/**
 * The thinking configuration for an effort. `undefined` (the model's own default) without an effort and for
 * models that do not think. Where thinking cannot be switched off, `none` is the least there is. Thought
 * summaries are asked for unless `none`.
 */
export function thinkingConfig(
  effort: Effort | undefined,
  traits: GoogleModelTraits,
): GoogleThinkingConfig | undefined {
  if (effort === undefined || traits.thinking === "none") return undefined;
  const includeThoughts = effort !== "none";
  if (traits.thinking === "budget") {
    const thinkingBudget = Math.min(traits.maxBudget, Math.max(traits.minBudget, BUDGETS[effort]));
    return { includeThoughts, thinkingBudget };
  }
  return { includeThoughts, thinkingLevel: nearestLevel(LEVELS[effort], traits.levels) };
}

const BUDGETS: { readonly [E in Effort]: number } = {
  none: 0,
  minimal: 512,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
};

const LEVELS: { readonly [E in Effort]: ThinkingLevel } = {
  none: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  xhigh: "HIGH",
};

const ORDER: readonly ThinkingLevel[] = ["MINIMAL", "LOW", "MEDIUM", "HIGH"];

/** The level itself, else the next higher one the model knows. */
function nearestLevel(level: ThinkingLevel, known: readonly ThinkingLevel[]): ThinkingLevel {
  return known.find((candidate) => ORDER.indexOf(candidate) >= ORDER.indexOf(level)) ?? "HIGH";
}
