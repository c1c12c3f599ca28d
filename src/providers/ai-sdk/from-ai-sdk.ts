import { type Clock, systemClock } from "../../core/base/async.ts";
import {
  assertEngine,
  type ErrorCode,
  errorMessage,
  invalidArgument,
  isNanoAgentError,
  NanoAgentError,
} from "../../core/base/errors.ts";
import { isRecord, omitUndefined, ownValue, parseToolInput } from "../../core/base/json.ts";
import { type ToolUseBlock, tokenCount, type Usage, usageParts } from "../../core/message/message.ts";
import { InputEstimates } from "../../core/model/estimate.ts";
import type { FinishReason, Model, ModelInfo, StreamPart } from "../../core/model/model.ts";
import { AnswerLimit } from "../attempt.ts";
import { type CallSetup, createCallingModel, newLearnedModel, type RequestInFlight } from "../model-call.ts";
import { NETWORK_DEFAULTS, type NetworkOptions } from "../network.ts";
import {
  answerError,
  incompleteAnswer,
  parseErrorObject,
  redact,
  reportedError,
  withErrorChanges,
} from "../provider-errors.ts";
import { Refusals } from "../refusals.ts";
import { finishPart, type WireTarget } from "../wire.ts";
import {
  type AiSdkCallOptions,
  type AiSdkFinishReason,
  type AiSdkLanguageModel,
  type AiSdkMetadata,
  type AiSdkStream,
  type AiSdkStreamPart,
  type AiSdkUsage,
  type AiSdkVersion,
  aiSdkData,
  createCallOptions,
} from "./call-options.ts";

/** Options of {@link fromAiSdk}. */
export interface FromAiSdkOptions
  extends Pick<NetworkOptions, "maxRetries" | "maxRetryAfterMs" | "maxAnswerChars"> {
  /** Known facts about the model; the AI SDK provides none. */
  readonly info?: ModelInfo;
  /** How long a server may report loading its model, in milliseconds. Default 600,000; 0: no limit. */
  readonly firstEventTimeoutMs?: number;
  readonly clock?: Clock;
  /** Jitter between retries: numbers from 0 up to but not including 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * Creates a {@link Model} from any Vercel AI SDK language model of specification v3 (AI SDK 6) or v4 (AI SDK
 * 7), e.g. `fromAiSdk(anthropic("claude-sonnet-4-5"))`. Failed requests are retried as with the other
 * providers, and show as `retry` parts; an image the model does not accept is replaced by a note, and the
 * length of an answer is limited. Options for the SDK's provider go into `providerOptions.ai_sdk`, e.g. `{
 * ai_sdk: { anthropic: { … } } }`. Throws `invalid_argument` for anything else, including an older
 * specification.
 */
export function fromAiSdk(languageModel: AiSdkLanguageModel, options: FromAiSdkOptions = {}): Model {
  assertEngine();
  const version = versionOf(languageModel);
  const toCallOptions = createCallOptions(version, languageModel.provider);
  const { clock = systemClock, info, random = Math.random, ...given } = options;
  const limits = { ...NETWORK_DEFAULTS, ...given };
  const { provider, modelId } = languageModel;
  const refusals = new Refusals([provider, modelId], info?.images === false);
  const setup: CallSetup<AiSdkCallOptions> = {
    limits,
    prefix: "",
    modelId,
    learned: newLearnedModel(),
    refusals,
    estimates: new InputEstimates(),
    clock,
    random,
    encode: toCallOptions,
    send: (callOptions, emit) => {
      const bound = new AnswerLimit(provider, limits.maxAnswerChars, "");
      return sendWithSdk(languageModel, callOptions, (part) => {
        bound.countPart(part);
        emit(part.type === "block" ? refusals.withMaker(part) : part);
      });
    },
  };
  return createCallingModel(provider, info, setup);
}

function versionOf(languageModel: unknown): AiSdkVersion {
  if (typeof languageModel !== "object" || languageModel === null || !("doStream" in languageModel)) {
    const got = typeof languageModel === "string" ? JSON.stringify(languageModel) : typeof languageModel;
    throw invalidArgument(
      `fromAiSdk got ${got}, which is not an AI SDK language model. Pass what a provider function returns, e.g. anthropic("claude-sonnet-4-5").`,
    );
  }
  const version = "specificationVersion" in languageModel ? languageModel.specificationVersion : undefined;
  if (version === "v3" || version === "v4") return version;
  throw invalidArgument(
    `The AI SDK model follows specification ${JSON.stringify(version) ?? "v1"}; fromAiSdk needs v3 or v4. Update its provider package to one for AI SDK 6 or 7.`,
  );
}

/** One request through the SDK. Cancelled by its signal until the answer begins, then by its reader. */
function sendWithSdk(
  model: AiSdkLanguageModel,
  callOptions: AiSdkCallOptions,
  emit: (part: StreamPart) => void,
): RequestInFlight {
  const cancelled = new AbortController();
  const { signal } = cancelled;
  let reader: ReturnType<AiSdkStream["getReader"]> | undefined;
  /** Closed while the answer is held back. */
  let gate: PromiseWithResolvers<void> | undefined;
  const setPaused = (held: boolean): void => {
    if (!held) gate?.resolve();
    gate = held ? (gate ?? Promise.withResolvers<void>()) : undefined;
  };
  const cancel = (): void => {
    cancelled.abort();
    reader?.cancel().catch(() => undefined);
    setPaused(false);
  };
  const read = async (): Promise<void> => {
    const decoder = new AiSdkDecoder(model.provider, emit);
    const { stream } = await model.doStream({ ...callOptions, abortSignal: signal } as never);
    reader = stream.getReader();
    if (signal.aborted) cancel();
    for (;;) {
      const { done, value } = await reader.read();
      await gate?.promise;
      if (done) throw incompleteAnswer(model.provider, model.modelId);
      if (signal.aborted || decoder.chunk(value as AiSdkStreamPart)) return;
    }
  };
  const rethrow = (error: unknown): never => {
    throw aiSdkError(error, model);
  };
  return { done: read().catch(rethrow).finally(cancel), cancel, setPaused };
}

/**
 * The typed error for anything an AI SDK model threw or streamed as an `error` chunk: `APICallError` by its
 * status, headers and body, the SDK's other errors by name, a plain object by the vendors' own words. A
 * broken connection is `network`.
 */
function aiSdkError(
  error: unknown,
  model: { readonly provider: string; readonly modelId: string },
): NanoAgentError {
  if (isNanoAgentError(error)) return error;
  const target: WireTarget = { provider: model.provider, modelId: model.modelId, baseUrl: baseUrlOf(error) };
  if (error instanceof Error && isRecord(error)) return fromError(error, target);
  if (isRecord(error))
    return reportedError(parseErrorObject(isRecord(error["error"]) ? error : { error }), { target });
  return reportedError({ message: errorMessage(error) }, { target });
}

/** Errors by name. Source: the `errors` folder of `@ai-sdk/provider`, versions 3 and 4. */
const BY_NAME: { readonly [name: string]: { readonly code: ErrorCode; readonly retryable: boolean } } = {
  AI_LoadAPIKeyError: { code: "missing_credentials", retryable: false },
  AI_LoadSettingError: { code: "invalid_config", retryable: false },
  AI_NoSuchModelError: { code: "unknown_model", retryable: false },
  AI_InvalidArgumentError: { code: "bad_request", retryable: false },
  AI_InvalidPromptError: { code: "bad_request", retryable: false },
  AI_UnsupportedFunctionalityError: { code: "bad_request", retryable: false },
  AI_EmptyResponseBodyError: { code: "invalid_response", retryable: true },
  AI_InvalidResponseDataError: { code: "invalid_response", retryable: true },
  AI_JSONParseError: { code: "invalid_response", retryable: true },
  AI_NoContentGeneratedError: { code: "invalid_response", retryable: true },
  AI_TypeValidationError: { code: "invalid_response", retryable: true },
};

function fromError(error: Error & { readonly [key: string]: unknown }, target: WireTarget): NanoAgentError {
  const status = error["statusCode"];
  const message = redact(`${target.provider}: ${errorMessage(error)}`);
  if (typeof status === "number" && status >= 300) {
    const body = error["responseBody"];
    const given = typeof body === "string" && body !== "" ? body : JSON.stringify({ message: error.message });
    const answer = { status, headers: headersOf(error["responseHeaders"]), body: given, target };
    return withErrorChanges(answerError(answer), { cause: error });
  }
  const known = ownValue(BY_NAME, error.name);
  if (known !== undefined)
    return new NanoAgentError(known.code, message, { retryable: known.retryable, cause: error });
  if (error.name === "AI_APICallError") {
    const code = typeof status === "number" ? "invalid_response" : "network";
    return new NanoAgentError(code, message, {
      retryable: error["isRetryable"] === true || code === "invalid_response",
      cause: error,
    });
  }
  return new NanoAgentError(isBrokenConnection(error) ? "network" : "provider_error", message, {
    retryable: isBrokenConnection(error),
    cause: error,
  });
}

/** `fetch` reports a `TypeError`, Node's sockets a code; both may be nested one level down. */
function isBrokenConnection(error: Error): boolean {
  const codes = [error, error.cause].map((each) => (isRecord(each) ? each["code"] : undefined));
  return (
    error instanceof TypeError ||
    error.name === "AbortError" ||
    codes.some((code) => /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(String(code)))
  );
}

function headersOf(headers: unknown): { readonly [name: string]: string | undefined } {
  if (!isRecord(headers)) return {};
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}

function baseUrlOf(error: unknown): string {
  const url = isRecord(error) && typeof error["url"] === "string" ? URL.parse(error["url"]) : null;
  return url === null ? "of the model" : `${url.origin}${url.pathname}`;
}

interface OpenBlock {
  readonly kind: "text" | "thinking";
  readonly index: number;
  text: string;
  metadata: AiSdkMetadata | undefined;
}

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly index: number;
  json: string;
  metadata: AiSdkMetadata | undefined;
}

/**
 * Converts the chunks of one `doStream` to parts, emitted in order. Reasoning always ends in a block, so that
 * it can be sent back to `provider`; text only if it has metadata; empty text with metadata becomes an empty
 * thinking block, because empty text is never stored. A call whose arguments are not JSON is held back until
 * the finish reason tells if they were truncated. Tools that ran at the provider, sources and generated files
 * are skipped.
 */
export class AiSdkDecoder {
  readonly #provider: string;
  readonly #emit: (part: StreamPart) => void;
  readonly #texts = new Map<string, OpenBlock>();
  readonly #thoughts = new Map<string, OpenBlock>();
  readonly #calls = new Map<string, OpenCall>();
  readonly #skipped = new Set<string>();
  #nextIndex = 0;
  #hasCalls = false;
  #model: string | undefined;
  #responseId: string | undefined;

  constructor(provider: string, emit: (part: StreamPart) => void) {
    this.#provider = provider;
    this.#emit = emit;
  }

  /** Throws the content of an `error` chunk unchanged. Returns true after `finish`: stop reading. */
  chunk(part: AiSdkStreamPart): boolean {
    const { type, modelId, id } = part;
    if (type.startsWith("text-")) this.#block("text", part);
    else if (type.startsWith("reasoning-")) this.#block("thinking", part);
    else if (type === "tool-input-start" || type === "tool-input-delta") this.#toolInput(part);
    else if (type === "tool-call") this.#toolCall(part);
    else if (type === "response-metadata") {
      this.#model = modelId ?? this.#model;
      this.#responseId = id ?? this.#responseId;
    } else if (type === "error") throw part.error;
    else if (type === "finish") this.#finish(part);
    return type === "finish";
  }

  #block(kind: OpenBlock["kind"], { type, id = "", delta, providerMetadata }: AiSdkStreamPart): void {
    const open = kind === "text" ? this.#texts : this.#thoughts;
    let block = open.get(id);
    if (block === undefined) {
      block = { kind, index: this.#nextIndex++, text: "", metadata: undefined };
      open.set(id, block);
    }
    if (providerMetadata !== undefined) block.metadata = mergeMetadata(block.metadata, providerMetadata);
    if (delta !== undefined && delta !== "") {
      block.text += delta;
      const emitted = kind === "text" ? "text_delta" : "thinking_delta";
      this.#emit({ type: emitted, index: block.index, text: delta });
    }
    if (type.endsWith("-end")) {
      open.delete(id);
      this.#closeBlock(block);
    }
  }

  #closeBlock({ kind, index, text, metadata }: OpenBlock): void {
    if (metadata === undefined && (kind === "text" || text === "")) return;
    const provider_data = aiSdkData(this.#provider, metadata, kind === "text" && text === "");
    const isText = kind === "text" && text !== "";
    const block = isText
      ? { type: "text" as const, text, provider_data }
      : { type: "thinking" as const, thinking: text, provider_data };
    this.#emit({ type: "block", index, block });
  }

  #toolInput(part: AiSdkStreamPart): void {
    const { type, id = "", toolName: name = "", delta = "", providerMetadata: metadata } = part;
    if (type === "tool-input-start") {
      if (part.providerExecuted === true) this.#skipped.add(id);
      else this.#startCall({ id, name, index: this.#nextIndex++, json: "", metadata });
      return;
    }
    const call = this.#calls.get(id);
    if (call === undefined || this.#skipped.has(id)) return;
    call.json += delta;
    this.#emit({ type: "tool_call_delta", index: call.index, json: delta });
  }

  #startCall(call: OpenCall): OpenCall {
    this.#hasCalls = true;
    this.#calls.set(call.id, call);
    this.#emit({ type: "tool_call_start", index: call.index, id: call.id, name: call.name });
    return call;
  }

  #toolCall(part: AiSdkStreamPart): void {
    const { toolCallId: id = "", toolName: name = "", input, providerMetadata } = part;
    if (part.providerExecuted === true) return;
    const call =
      this.#calls.get(id) ??
      this.#startCall({ id, name, index: this.#nextIndex++, json: "", metadata: undefined });
    call.json = typeof input === "string" ? input : JSON.stringify(input ?? {});
    if (providerMetadata !== undefined) call.metadata = mergeMetadata(call.metadata, providerMetadata);
    if (parseToolInput(call.json).invalid_input !== undefined) return;
    this.#calls.delete(id);
    this.#closeCall(call, false);
  }

  #closeCall({ id, name, index, json, metadata }: OpenCall, truncated: boolean): void {
    const block: ToolUseBlock = {
      type: "tool_use",
      id,
      name,
      ...parseToolInput(json, { truncated }),
      ...omitUndefined({ provider_data: metadata && aiSdkData(this.#provider, metadata) }),
    };
    this.#emit({ type: "block", index, block });
  }

  #finish({ finishReason, usage }: AiSdkStreamPart): void {
    const reason: AiSdkFinishReason =
      typeof finishReason === "string" ? { unified: finishReason } : (finishReason ?? { unified: "other" });
    if (reason.unified === "interrupted") throw incompleteAnswer(this.#provider, this.#model ?? "");
    for (const block of this.#thoughts.values()) this.#closeBlock(block);
    for (const block of this.#texts.values()) this.#closeBlock(block);
    for (const call of this.#calls.values()) this.#closeCall(call, reason.unified === "length");
    const named = { model: this.#model, id: this.#responseId };
    this.#emit(finishPart(toFinishReason(reason, this.#hasCalls), toUsage(usage), named));
  }
}

function mergeMetadata(before: AiSdkMetadata | undefined, more: AiSdkMetadata): AiSdkMetadata {
  if (before === undefined) return more;
  const all: { [provider: string]: AiSdkMetadata[string] } = { ...before };
  for (const [provider, facts] of Object.entries(more)) all[provider] = { ...all[provider], ...facts };
  return all;
}

const UNIFIED: ReadonlyMap<string, FinishReason["unified"]> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["content-filter", "refusal"],
  ["tool-calls", "tool_use"],
  ["error", "error"],
]);

function toFinishReason({ unified, raw = unified }: AiSdkFinishReason, hasCalls: boolean): FinishReason {
  if (unified === "stop" && hasCalls) return { unified: "tool_use", raw };
  return { unified: UNIFIED.get(unified) ?? "other", raw };
}

function toUsage(usage: AiSdkUsage | undefined): Usage {
  const input = usage?.inputTokens;
  const output = usage?.outputTokens;
  return {
    inputTokens: tokenCount(input?.total),
    outputTokens: tokenCount(output?.total),
    ...usageParts({
      cacheReadTokens: input?.cacheRead,
      cacheWriteTokens: input?.cacheWrite,
      reasoningTokens: output?.reasoning,
    }),
    ...omitUndefined({ raw: usage?.raw }),
  };
}
