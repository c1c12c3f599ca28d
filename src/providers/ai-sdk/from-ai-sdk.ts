import { type Clock, systemClock } from "../../core/base/async.ts";
import {
  assertEngine,
  type ErrorCode,
  errorMessage,
  isNanoAgentError,
  misuse,
  NanoAgentError,
} from "../../core/base/errors.ts";
import { isRecord, ownValue } from "../../core/base/json.ts";
import { InputEstimates } from "../../core/model/estimate.ts";
import type { Model, ModelInfo, StreamPart } from "../../core/model/model.ts";
import { AnswerBound } from "../attempt.ts";
import {
  type CallSetup,
  infoWithLearned,
  ModelCall,
  newLearnedModel,
  type SentRequest,
} from "../model-call.ts";
import { NETWORK_DEFAULTS, type NetworkOptions } from "../network.ts";
import {
  answerError,
  changedError,
  incompleteAnswer,
  redact,
  reportedError,
  wordsOf,
} from "../provider-errors.ts";
import { Refusals } from "../refusals.ts";
import type { WireTarget } from "../wire.ts";
import { type AiSdkCallOptions, createCallOptions } from "./call-options.ts";
import { AiSdkDecoder } from "./decode-stream.ts";
import type { AiSdkLanguageModel, AiSdkStream, AiSdkStreamPart, AiSdkVersion } from "./language-model.ts";

/** Options of {@link fromAiSdk}. */
export interface FromAiSdkOptions
  extends Pick<NetworkOptions, "maxRetries" | "maxRetryAfterMs" | "maxAnswerChars"> {
  /** Facts known about the model; the AI SDK does not say. */
  readonly info?: ModelInfo;
  /** How long a server may say that it loads its model, in milliseconds. Default 600,000; 0: without end. */
  readonly firstEventTimeoutMs?: number;
  readonly clock?: Clock;
  /** Source of the jitter between retries: numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * A {@link Model} from any Vercel AI SDK language model of specification v3 (AI SDK 6) or v4 (AI SDK 7), e.g.
 * `fromAiSdk(anthropic("claude-sonnet-4-5"))`. Failed requests are repeated as with the other providers, and
 * show as `retry` parts; an image the model does not take is replaced by a note, and the length of an answer
 * is bounded. Options for the SDK's provider go into `providerOptions.ai_sdk`, e.g.
 * `{ ai_sdk: { anthropic: { … } } }`. Throws `invalid_argument` for anything else, an older specification
 * included.
 */
export function fromAiSdk(languageModel: AiSdkLanguageModel, options: FromAiSdkOptions = {}): Model {
  assertEngine();
  const version = versionOf(languageModel);
  const toCallOptions = createCallOptions({ version, provider: languageModel.provider });
  const { clock = systemClock, info, random = Math.random, ...given } = options;
  const limits = { ...NETWORK_DEFAULTS, ...given };
  const { provider, modelId } = languageModel;
  const learned = newLearnedModel();
  const refusals = new Refusals([provider, modelId], info?.images === false);
  const setup: CallSetup<AiSdkCallOptions> = {
    limits,
    prefix: "",
    modelId,
    learned,
    refusals,
    estimates: new InputEstimates(),
    clock,
    random,
    encode: toCallOptions,
    send: (callOptions, emit) => {
      const bound = new AnswerBound(provider, limits.maxAnswerChars, "");
      return sendWithSdk(languageModel, callOptions, (part) => {
        bound.take(part);
        emit(part.type === "block" ? refusals.marked(part) : part);
      });
    },
  };
  return {
    provider,
    id: modelId,
    get info() {
      return infoWithLearned(info, learned);
    },
    stream: (request, callOptions = {}) => new ModelCall(setup, request, callOptions).parts,
  };
}

function versionOf(languageModel: unknown): AiSdkVersion {
  if (typeof languageModel !== "object" || languageModel === null || !("doStream" in languageModel)) {
    const got = typeof languageModel === "string" ? JSON.stringify(languageModel) : typeof languageModel;
    throw misuse(
      `fromAiSdk got ${got}, which is not an AI SDK language model. Pass what a provider function returns, e.g. anthropic("claude-sonnet-4-5").`,
    );
  }
  const version = "specificationVersion" in languageModel ? languageModel.specificationVersion : undefined;
  if (version === "v3" || version === "v4") return version;
  throw misuse(
    `The AI SDK model follows specification ${JSON.stringify(version) ?? "v1"}; fromAiSdk needs v3 or v4. Update its provider package to one for AI SDK 6 or 7.`,
  );
}

/** One request by the SDK. Cancelled by signal until its answer begins, then by its reader. */
function sendWithSdk(
  model: AiSdkLanguageModel,
  callOptions: AiSdkCallOptions,
  emit: (part: StreamPart) => void,
): SentRequest {
  const cancelled = new AbortController();
  const { signal } = cancelled;
  let reader: ReturnType<AiSdkStream["getReader"]> | undefined;
  /** Closed while the answer is held back. */
  let gate: PromiseWithResolvers<void> | undefined;
  const hold = (held: boolean): void => {
    if (!held) gate?.resolve();
    gate = held ? (gate ?? Promise.withResolvers<void>()) : undefined;
  };
  const cancel = (): void => {
    cancelled.abort();
    reader?.cancel().catch(() => undefined);
    hold(false);
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
  const failed = (error: unknown): never => {
    throw aiSdkError(error, model);
  };
  return { done: read().catch(failed).finally(cancel), cancel, hold };
}

/**
 * The typed error for whatever an AI SDK model threw or streamed as an `error` chunk: `APICallError` by its
 * status, headers and body, the SDK's other errors by name, a plain object by the vendors' own words. A break
 * of the connection is `network`.
 */
function aiSdkError(
  error: unknown,
  model: { readonly provider: string; readonly modelId: string },
): NanoAgentError {
  if (isNanoAgentError(error)) return error;
  const target: WireTarget = { provider: model.provider, modelId: model.modelId, baseUrl: baseUrlOf(error) };
  if (error instanceof Error && isRecord(error)) return fromError(error, target);
  if (isRecord(error))
    return reportedError(wordsOf(isRecord(error["error"]) ? error : { error }), { target });
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
    return changedError(answerError(answer), { cause: error });
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

/** `fetch` reports a `TypeError`, Node's sockets a code, both also one level down. */
function isBrokenConnection(error: Error): boolean {
  const codes = [error, error.cause].map((one) => (isRecord(one) ? one["code"] : undefined));
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
