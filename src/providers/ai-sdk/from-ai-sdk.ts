import { type Clock, systemClock } from "../../core/base/clock.ts";
import { NanoAgentError } from "../../core/base/errors.ts";
import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../../core/model/model.ts";
import { boundedParts } from "../answer-bound.ts";
import { NETWORK_DEFAULTS } from "../network.ts";
import { Recovery } from "../recovery.ts";
import { createCallOptions } from "./call-options.ts";
import { createAiSdkDecoder } from "./decode-stream.ts";
import type {
  AiSdkCallOptions,
  AiSdkLanguageModel,
  AiSdkStreamPart,
  AiSdkVersion,
} from "./language-model.ts";
import { aiSdkError } from "./sdk-error.ts";

/** Options of {@link fromAiSdk}. */
export interface FromAiSdkOptions {
  /** Facts known about the model; the AI SDK does not say. */
  readonly info?: ModelInfo;
  /** Attempts after the first. Default 5. The SDK's `doStream` makes none of its own. */
  readonly maxRetries?: number;
  /** Longest wait a provider may ask for, in milliseconds; a longer one ends the request. Default 60,000. */
  readonly maxRetryAfterMs?: number;
  /** How long a server may say that it loads its model, in milliseconds. Default 600,000; 0: without end. */
  readonly firstEventTimeoutMs?: number;
  /** Characters of text, reasoning and arguments in one answer; a longer one ends the request. Default 16,000,000. */
  readonly maxAnswerChars?: number;
  readonly clock?: Clock;
  /** Source of the jitter between retries: numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * A {@link Model} from any Vercel AI SDK language model of specification v3 (AI SDK 6) or v4 (AI SDK 7), e.g.
 * `fromAiSdk(anthropic("claude-sonnet-4-5"))`. Failed requests are repeated as with the other providers, and show as `retry`
 * parts; an image the model does not take is replaced by a note, and the length of an answer is bounded. Options for the SDK's provider go into `providerOptions.ai_sdk`, e.g. `{ ai_sdk: { anthropic: { … } } }`. Throws
 * `invalid_argument` for anything else, an older specification included.
 */
export function fromAiSdk(languageModel: AiSdkLanguageModel, options: FromAiSdkOptions = {}): Model {
  const version = versionOf(languageModel);
  const toCallOptions = createCallOptions({ version, provider: languageModel.provider });
  const { clock = systemClock, info, random = Math.random, ...given } = options;
  const limits = { ...NETWORK_DEFAULTS, ...given };
  const recovery = new Recovery({ limits, info, clock, random, prefix: "" });
  const setup = { languageModel, toCallOptions, recovery, clock, maxAnswerChars: limits.maxAnswerChars };
  return {
    provider: languageModel.provider,
    id: languageModel.modelId,
    ...(options.info === undefined ? {} : { info: options.info }),
    stream: (request, callOptions = {}) => streamWithRetries(setup, request, callOptions),
  };
}

function versionOf(languageModel: unknown): AiSdkVersion {
  if (typeof languageModel !== "object" || languageModel === null || !("doStream" in languageModel)) {
    const got = typeof languageModel === "string" ? JSON.stringify(languageModel) : typeof languageModel;
    throw new NanoAgentError(
      "invalid_argument",
      `fromAiSdk got ${got}, which is not an AI SDK language model. Pass what a provider function returns, e.g. anthropic("claude-sonnet-4-5").`,
    );
  }
  const version = "specificationVersion" in languageModel ? languageModel.specificationVersion : undefined;
  if (version === "v3" || version === "v4") return version;
  throw new NanoAgentError(
    "invalid_argument",
    `The AI SDK model follows specification ${JSON.stringify(version) ?? "v1"}; fromAiSdk needs v3 or v4. Update its provider package to one for AI SDK 6 or 7.`,
  );
}

interface Setup {
  readonly languageModel: AiSdkLanguageModel;
  readonly toCallOptions: (request: ModelRequest) => AiSdkCallOptions;
  readonly recovery: Recovery;
  readonly clock: Clock;
  readonly maxAnswerChars: number;
}

async function* streamWithRetries(
  setup: Setup,
  request: ModelRequest,
  { signal }: ModelCallOptions,
): AsyncGenerator<StreamPart> {
  const recovery = setup.recovery.begin(request);
  let callOptions = setup.toCallOptions(recovery.request);
  for (;;) {
    if (signal?.aborted === true) throw abortedError(signal);
    let error: NanoAgentError;
    try {
      yield* oneAttempt(setup, callOptions, signal);
      return;
    } catch (thrown) {
      if (isAborted(signal)) throw abortedError(signal);
      error = aiSdkError(thrown, setup.languageModel);
    }
    const next = recovery.after(error);
    if (next.type === "fail") throw next.error;
    if (next.retry !== undefined) yield next.retry;
    await sleep(setup.clock, next.delayMs, signal);
    if (next.isChanged) callOptions = setup.toCallOptions(recovery.request);
  }
}

async function sleep(clock: Clock, delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(delayMs, signal);
  } catch (error) {
    throw isAborted(signal) ? abortedError(signal) : error;
  }
}

/** Read through a function: the state changes while a generator waits, which the compiler's narrowing does not see. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function abortedError(signal: AbortSignal | undefined): NanoAgentError {
  return new NanoAgentError("aborted", "The model request was aborted.", { cause: signal?.reason });
}

/** Leaving the iteration cancels the request: by signal while it waits for its answer, by the reader once it streams. */
async function* oneAttempt(
  { languageModel, maxAnswerChars }: Setup,
  callOptions: AiSdkCallOptions,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamPart> {
  const left = new AbortController();
  const abortSignal = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  const queue: StreamPart[] = [];
  const { provider } = languageModel;
  const take = boundedParts((part) => queue.push(part), { maxAnswerChars, provider, prefix: "" });
  const decoder = createAiSdkDecoder(provider, take);
  const { stream } = await untilAborted(
    languageModel.doStream({ ...callOptions, abortSignal } as never),
    signal,
  );
  const reader = stream.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    for (;;) {
      // Cancelling ends a read that waits, also of a model that ignores its signal.
      const { done, value } = await reader.read();
      if (done) throw cutShort();
      const finished = decoder.chunk(value as AiSdkStreamPart);
      for (const part of queue) yield part;
      queue.length = 0;
      if (finished) return;
    }
  } finally {
    signal?.removeEventListener("abort", cancel);
    left.abort();
    cancel();
  }
}

function cutShort(): NanoAgentError {
  return new NanoAgentError(
    "invalid_response",
    "The AI SDK stream ended without a finish chunk, so the answer was cut short. Try again.",
    {
      retryable: true,
    },
  );
}

/** Ends also where a model ignores its signal. */
async function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(abortedError(signal));
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).then(() => signal.removeEventListener("abort", stop));
  });
}
