import { omitUndefined } from "../../core/base/json.ts";
import { plainObjectSchema } from "../../core/base/plain-object-schema.ts";
import type {
  ContentBlock,
  ImageBlock,
  Message,
  ProviderData,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
} from "../../core/message/message.ts";
import type { Effort, ModelRequest, ToolSpec } from "../../core/model/model.ts";
import { memoizeByObject } from "../serialise-once.ts";
import { toWireToolName, type WireRequest, type WireTarget, wireHeaders, withoutOmitted } from "../wire.ts";

const VERSION = "2023-06-01";
/** Below the models' maximum: older ones refuse if prompt plus limit exceed the window. */
const DEFAULT_MAX_TOKENS = 32_000;
/** These models also think within this limit, and do not check it against the window. */
const ADAPTIVE_MAX_TOKENS = 64_000;

/**
 * Encodes requests for the Messages API (https://platform.claude.com/docs/en/api/messages/create), streamed.
 *
 * Quirks: `auth: "bearer"` sends the key as `authorization` · `cache: false` disables prompt caching marks ·
 * `cache_ttl: "1h"` requests the long cache · `thinking: "none" | "budget" | "adaptive"` overrides the
 * model's known mode.
 */
export function createAnthropicEncoder(target: WireTarget): (request: ModelRequest) => WireRequest {
  const { quirks = {}, modelId: model, baseUrl } = target;
  const url = target.endpoint ?? `${baseUrl}${baseUrl.endsWith("/v1") ? "" : "/v1"}/messages`;
  const traits = traitsOfTarget(target);
  const isOwn = URL.parse(baseUrl)?.hostname === "api.anthropic.com";
  const plain = headersOf(target);
  const interleaved = isOwn ? { "anthropic-beta": "interleaved-thinking-2025-05-14", ...plain } : plain;
  const isAdaptive = traits.mode === "adaptive";
  // Only a beta feature drops thinking blocks that no longer match.
  const dropsUnbound = traits.bound && isOwn && isAdaptive && !("anthropic-beta" in plain);
  const standard = dropsUnbound
    ? { ...plain, "anthropic-beta": "thinking-binding-controls-2026-08-01" }
    : plain;
  const mostTokens = isAdaptive ? ADAPTIVE_MAX_TOKENS : DEFAULT_MAX_TOKENS;
  const standardTokens = Math.min(target.maxOutputTokens ?? DEFAULT_MAX_TOKENS, mostTokens);
  const ttl = quirks["cache_ttl"] === "1h" ? ',"ttl":"1h"' : "";
  /** With its leading comma; empty if caching is off. */
  const cacheControl = quirks["cache"] === false ? "" : `,"cache_control":{"type":"ephemeral"${ttl}}`;
  const encode = memoizeByObject(encodeMessage);
  const toolJson = memoizeByObject(writeTool);
  return (request) => {
    const { system = "", tools = [], maxOutputTokens = standardTokens } = request;
    const extra = request.providerOptions?.["anthropic"] ?? {};
    const encoded = request.messages.map(encode);
    const thinking = isAdaptive
      ? adaptiveThinking(request, traits, dropsUnbound)
      : budgetThinking(request, traits, maxOutputTokens, mayThink(encoded));
    const own = {
      model,
      max_tokens: maxOutputTokens,
      stream: true,
      ...samplingOf(request, traits, thinking),
      ...thinking.fields,
      ...choiceOf(request, traits),
      ...stopSequencesOf(request),
    };
    const head = { ...withoutOmitted(own, target), ...extra };
    const body = [JSON.stringify(head).slice(0, -1)];
    if (tools.length > 0 && !("tools" in extra))
      body.push(`"tools":[${withCacheControl(tools.map(toolJson).join(","), cacheControl)}]`);
    if (system.trim() !== "" && !("system" in extra))
      body.push(`"system":[{"type":"text","text":${JSON.stringify(system)}${cacheControl}}]`);
    if (!("messages" in extra)) body.push(`"messages":[${transcript(encoded, cacheControl)}]`);
    const headers = thinking.budget && tools.length > 0 ? interleaved : standard;
    return { url, headers, body: `${body.join(",")}}` };
  };
}

function stopSequencesOf({ stopSequences = [] }: ModelRequest): object {
  return stopSequences.length === 0 ? {} : { stop_sequences: stopSequences };
}

function withCacheControl(objects: string, cacheControl: string): string {
  return `${objects.slice(0, -1)}${cacheControl}}`;
}

function choiceOf(
  { tools = [], toolChoice, parallelToolCalls }: ModelRequest,
  traits: ThinkingTraits,
): object {
  if (tools.length === 0) return {};
  const sequential = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
  if (toolChoice === "none") return { tool_choice: { type: "none" } };
  if (toolChoice === undefined && parallelToolCalls !== false) return {};
  const isForced = toolChoice !== undefined && toolChoice !== "auto";
  // A model that always thinks refuses a forced choice; asking is the best we can do.
  if (!isForced || refusesForce(traits)) return { tool_choice: { type: "auto", ...sequential } };
  if (typeof toolChoice === "object")
    return { tool_choice: { type: "tool", name: toolChoice.name, ...sequential } };
  return { tool_choice: { type: "any", ...sequential } };
}

function refusesForce({ standard }: ThinkingTraits): boolean {
  return standard === "always" || standard === "between_tools";
}

function forcesTool({ toolChoice }: ModelRequest): boolean {
  return toolChoice === "required" || typeof toolChoice === "object";
}

interface Thinking {
  readonly budget: boolean;
  readonly on: boolean;
  readonly fields?: object;
}

const THINKING_OFF: Thinking = { budget: false, on: false };

/** The API refuses smaller thinking budgets. */
const MIN_BUDGET = 1_024;

function budgetThinking(
  request: ModelRequest,
  { mode }: ThinkingTraits,
  maxTokens: number,
  startsWithThinking: boolean,
): Thinking {
  const { effort = "none" } = request;
  // A forced tool excludes thinking; in a tool loop, only an answer that began with thinking may continue it.
  if (mode === "none" || effort === "none" || forcesTool(request) || !startsWithThinking) return THINKING_OFF;
  const budget = Math.min(THINKING_BUDGETS[effort], Math.floor(maxTokens * 0.8));
  if (budget < MIN_BUDGET) return THINKING_OFF;
  return { budget: true, on: true, fields: { thinking: { type: "enabled", budget_tokens: budget } } };
}

/** Otherwise a compacted conversation or changed tools would fail every later request. */
const DROP_UNBOUND = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };

function adaptiveThinking(request: ModelRequest, traits: ThinkingTraits, dropsUnbound: boolean): Thinking {
  const { effort } = request;
  const { standard, highest, sampling } = traits;
  const isForced = forcesTool(request) && !refusesForce(traits);
  const adaptive = dropsUnbound ? DROP_UNBOUND : { type: "adaptive" };
  // The default for these models.
  const thinking = dropsUnbound && !isForced ? { thinking: adaptive } : {};
  if (effort === undefined) return { ...THINKING_OFF, fields: thinking };
  if (effort === "none") {
    if (standard === "off") return THINKING_OFF;
    if (standard === "always")
      return { ...THINKING_OFF, on: true, fields: { ...thinking, output_config: { effort: "low" } } };
    return { ...THINKING_OFF, fields: { thinking: { type: standard === "on" ? "disabled" : standard } } };
  }
  const word = effort === "minimal" ? "low" : effort === "xhigh" ? highest : effort;
  const output_config = { effort: word };
  if (isForced) return { ...THINKING_OFF, fields: { output_config } };
  // Models that refuse sampling (from Claude 4.7) omit the text of thinking unless asked for it.
  const display = sampling ? {} : { display: "summarized" };
  return { budget: false, on: true, fields: { thinking: { ...adaptive, ...display }, output_config } };
}

/** Thinking and newer models allow no sampling options; Claude 4.5 accepts only one of the two. */
function samplingOf({ temperature, topP }: ModelRequest, traits: ThinkingTraits, { on }: Thinking): object {
  if (!traits.sampling || on) return {};
  if (temperature !== undefined) return { temperature };
  return topP === undefined ? {} : { top_p: topP };
}

/** The messages of a transcript as text; adjacent messages of one role are merged. */
function transcript(messages: readonly EncodedMessage[], cacheControl: string): string {
  const breakpoints = cacheControl === "" ? NONE : cacheBreakpoints(messages);
  let text = "";
  let before = "";
  for (const [index, { role, count, blocks: plain }] of messages.entries()) {
    if (count === 0) continue;
    const blocks = breakpoints.includes(index) ? withCacheControl(plain, cacheControl) : plain;
    // The last message stays open, so that one of the same role can join it.
    text +=
      role === before ? `,${blocks}` : `${before === "" ? "" : "]},"}{"role":"${role}","content":[${blocks}`;
    before = role;
  }
  return text === "" ? "" : `${text}]}`;
}

/** True unless a tool loop is open whose last answer did not begin with thinking. */
function mayThink(messages: readonly EncodedMessage[]): boolean {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const hasResults = messages.slice(last + 1).some(({ hasResults }) => hasResults);
  return last === -1 || !hasResults || messages[last]?.startsWithThinking === true;
}

const NONE: readonly number[] = [];

/** The newest message, and the user message before it, which still hits if the newest misses. */
function cacheBreakpoints(messages: readonly EncodedMessage[]): readonly number[] {
  const breakpoints: number[] = [];
  for (let index = messages.length - 1; index >= 0 && breakpoints.length < 2; index--) {
    const encoded = messages[index];
    if (encoded?.isCacheable === true && (breakpoints.length === 0 || encoded.role === "user"))
      breakpoints.push(index);
  }
  return breakpoints;
}

function headersOf(target: WireTarget): WireRequest["headers"] {
  const { apiKey, quirks } = target;
  const isBearer = quirks?.["auth"] === "bearer";
  return wireHeaders(target, {
    "anthropic-version": VERSION,
    authorization: isBearer && apiKey !== undefined ? `Bearer ${apiKey}` : undefined,
    "x-api-key": isBearer ? undefined : apiKey,
  });
}

function traitsOfTarget({ modelId, quirks }: WireTarget): ThinkingTraits {
  const traits = thinkingTraits(modelId);
  const mode = quirks?.["thinking"];
  return mode === "none" || mode === "budget" || mode === "adaptive" ? { ...traits, mode } : traits;
}

function writeTool({ name, description, parameters }: ToolSpec): string {
  return JSON.stringify({
    name,
    ...(description === "" ? {} : { description }),
    input_schema: plainObjectSchema(parameters),
  });
}

/** `blocks`: JSON, joined by commas. `count` 0: nothing to send. */
interface EncodedMessage {
  readonly role: "user" | "assistant";
  readonly blocks: string;
  readonly count: number;
  /** True if the last block may have `cache_control`. */
  readonly isCacheable: boolean;
  readonly startsWithThinking: boolean;
  readonly hasResults: boolean;
}

/** Encodes a message's content for the Messages API, results first, without parts the API refuses. */
function encodeMessage(message: Message): EncodedMessage {
  const content: readonly ContentBlock[] = message.content;
  const hasResults = message.role === "user" && content.some((block) => block.type === "tool_result");
  const ordered = hasResults ? resultsFirst(content) : content;
  const blocks: string[] = [];
  let last: ContentBlock | undefined;
  let startsWithThinking = false;
  for (const block of ordered) {
    const value = encodeBlock(block);
    if (value === undefined) continue;
    if (blocks.length === 0) startsWithThinking = block.type === "thinking";
    blocks.push(JSON.stringify(value));
    last = block;
  }
  return {
    role: message.role,
    blocks: blocks.join(","),
    count: blocks.length,
    isCacheable: last !== undefined && last.type !== "thinking" && ownData(last, "block") === undefined,
    startsWithThinking,
    hasResults,
  };
}

/** An id the API accepts (`[a-zA-Z0-9_-]+`), equal for a call and its result, and still unique. */
export function toolUseId(id: string): string {
  if (/^[\w-]+$/.test(id)) return id;
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  return `${id.replaceAll(/[^\w-]/g, "_")}_${(hash >>> 0).toString(36)}`;
}

/** Results, then images of error results, which the API only accepts as text, then the rest. */
function resultsFirst(content: readonly ContentBlock[]): readonly ContentBlock[] {
  const results: ContentBlock[] = [];
  const images: ContentBlock[] = [];
  const rest: ContentBlock[] = [];
  for (const block of content) {
    if (block.type !== "tool_result") rest.push(block);
    else if (block.is_error !== true || typeof block.content === "string") results.push(block);
    else {
      results.push({ ...block, content: block.content.filter((part) => part.type === "text") });
      images.push(...block.content.filter((part) => part.type === "image"));
    }
  }
  return [...results, ...images, ...rest];
}

function encodeBlock(block: ContentBlock): object | undefined {
  switch (block.type) {
    case "text":
      return ownData(block, "block") ?? encodeText(block);
    case "thinking":
      return encodeThinking(block);
    case "image":
      return encodeImage(block);
    case "tool_use":
      return {
        type: "tool_use",
        id: toolUseId(block.id),
        name: toWireToolName(block.name),
        input: block.input,
        ...callerOf(block.provider_data?.["anthropic"]),
      };
    case "tool_result":
      return encodeResult(block);
  }
}

function callerOf({ caller, toolset_name }: ProviderData[string] = {}): object {
  return omitUndefined({ caller, toolset_name });
}

function ownData(block: ContentBlock, key: "block" | "citations"): object | undefined {
  const value = "provider_data" in block ? block.provider_data?.["anthropic"]?.[key] : undefined;
  return typeof value === "object" && value !== null ? value : undefined;
}

function encodeText(block: TextBlock): object | undefined {
  const { text } = block;
  return text.trim() === ""
    ? undefined
    : { type: "text", text, ...omitUndefined({ citations: ownData(block, "citations") }) };
}

function encodeThinking({ thinking, signature, redacted, provider_data }: ThinkingBlock): object | undefined {
  if (provider_data !== undefined && !("anthropic" in provider_data)) return undefined;
  if (redacted !== undefined) return { type: "redacted_thinking", data: redacted };
  return signature === undefined ? undefined : { type: "thinking", thinking, signature };
}

function encodeImage({ source }: ImageBlock): object {
  return source.type === "base64"
    ? { type: "image", source: { type: "base64", media_type: source.media_type, data: source.data } }
    : { type: "image", source: { type: "url", url: source.url } };
}

function encodeResult({ tool_use_id, content, is_error }: ToolResultBlock): object {
  return {
    type: "tool_result",
    tool_use_id: toolUseId(tool_use_id),
    content: resultContent(content),
    ...(is_error === true ? { is_error: true } : {}),
  };
}

/** Never empty: the API refuses an error without content. */
function resultContent(content: ToolResultBlock["content"]): string | readonly object[] {
  if (typeof content === "string") return content.trim() === "" ? NO_OUTPUT : content;
  const blocks = content.map(encodeBlock).filter((block) => block !== undefined);
  return blocks.length === 0 ? NO_OUTPUT : blocks;
}

const NO_OUTPUT = "(no output)";

/**
 * How a model handles effort. `budget`: thinking with a token budget (Claude 3.7 to 4.5) · `adaptive`: the
 * model decides, guided by an effort word (from Claude 4.6) · `none`: it does not think.
 */
type ThinkingMode = "none" | "budget" | "adaptive";

/** Traits of a model. Source: Anthropic's "Thinking" and "Effort" pages and migration guides. */
interface ThinkingTraits {
  readonly mode: ThinkingMode;
  /**
   * `off`: only on request · `on`: unless disabled · `between_tools`: at least between calls · `always`. The
   * last two also refuse forced tool calls.
   */
  readonly standard: "off" | "on" | "between_tools" | "always";
  readonly highest: "high" | "max" | "xhigh";
  /** False if `temperature`, `top_p` and `top_k` are refused. */
  readonly sampling: boolean;
  /** True if thinking blocks are refused once anything before them in the conversation has changed. */
  readonly bound: boolean;
}

const BUDGET: ThinkingTraits = {
  mode: "budget",
  standard: "off",
  highest: "high",
  sampling: true,
  bound: false,
};
const NO_THINKING: ThinkingTraits = { ...BUDGET, mode: "none" };
const EARLY_ADAPTIVE: ThinkingTraits = { ...BUDGET, mode: "adaptive", highest: "max" };
const MODERN: ThinkingTraits = {
  mode: "adaptive",
  standard: "on",
  highest: "xhigh",
  sampling: false,
  bound: false,
};

/**
 * The traits of a model by its id: `claude-opus-4-5-20251101`, `claude-3-7-sonnet-latest` and gateway
 * spellings (`anthropic.claude-sonnet-4-6-v1`, `claude-opus-4.7`). Other models are assumed to support token
 * budgets, as compatible servers do.
 */
function thinkingTraits(modelId: string): ThinkingTraits {
  const id = modelId.toLowerCase().replaceAll(".", "-");
  const legacy = /claude-(\d)(?:-(\d))?(?!\d)/.exec(id);
  if (legacy !== null) return versionOf(legacy[1], legacy[2]) >= 307 ? BUDGET : NO_THINKING;
  const named = /claude-([a-z]+)-(?:(\d{1,2})(?!\d)(?:-(\d{1,2})(?!\d))?)?/.exec(id);
  if (named === null) return BUDGET;
  const [, family = "", major, minor] = named;
  const version = major === undefined ? undefined : versionOf(major, minor);
  if (family === "fable" || family === "mythos")
    return { ...MODERN, standard: "always", bound: family === "fable" && (version ?? 501) >= 501 };
  return version === undefined ? MODERN : traitsOf(family, version);
}

/** Thinking budgets in tokens. The API requires at least 1,024. */
const THINKING_BUDGETS: { readonly [E in Exclude<Effort, "none">]: number } = {
  minimal: 1_024,
  low: 4_096,
  medium: 10_240,
  high: 20_480,
  xhigh: 32_768,
};

function traitsOf(family: string, version: number): ThinkingTraits {
  if (version < 406) return BUDGET;
  if (version < 407) return EARLY_ADAPTIVE;
  if (version < 500) return { ...MODERN, standard: "off" };
  if (version < 505) return MODERN;
  return { ...MODERN, bound: true, standard: STANDARD.get(family) ?? "on" };
}

/** From version 5.5. */
const STANDARD: ReadonlyMap<string, ThinkingTraits["standard"]> = new Map([
  ["opus", "always"],
  ["sonnet", "between_tools"],
]);

function versionOf(major: string | undefined, minor: string | undefined): number {
  return Number(major ?? 0) * 100 + Number(minor ?? 0);
}
