import { type Clock, systemClock } from "../../core/base/clock.ts";
import { NanoAgentError } from "../../core/base/errors.ts";
import { backoffDelayMs } from "../../core/base/retry.ts";
import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../../core/model/model.ts";
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
  readonly clock?: Clock;
  /** Source of the jitter between retries: numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * A {@link Model} from any Vercel AI SDK language model of specification v3 (AI SDK 6) or v4 (AI SDK 7), e.g.
 * `fromAiSdk(anthropic("claude-sonnet-4-5"))`. Failed requests are repeated as with the other providers, and show as `retry`
 * parts. Options for the SDK's provider go into `providerOptions.ai_sdk`, e.g. `{ ai_sdk: { anthropic: { … } } }`. Throws
 * `invalid_argument` for anything else, an older specification included.
 */
export function fromAiSdk(languageModel: AiSdkLanguageModel, options: FromAiSdkOptions = {}): Model {
  const version = versionOf(languageModel);
  const toCallOptions = createCallOptions({ version, provider: languageModel.provider });
  return {
    provider: languageModel.provider,
    id: languageModel.modelId,
    ...(options.info === undefined ? {} : { info: options.info }),
    stream: (request, callOptions = {}) =>
      streamWithRetries({ languageModel, toCallOptions, options }, request, callOptions),
  };
}

function versionOf(languageModel: unknown): AiSdkVersion {
  if (typeof languageModel !== "object" || languageModel === null || !("doStream" in languageModel)) {
    const got = typeof languageModel === "string" ? JSON.stringify(languageModel) : typeof languageModel;
    throw new NanoAgentError(
      "invalid_argument",
      `fromAiSdk got ${got}, which is no AI SDK language model. Pass what a provider function returns, e.g. anthropic("claude-sonnet-4-5").`,
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
  readonly options: FromAiSdkOptions;
}

async function* streamWithRetries(
  setup: Setup,
  request: ModelRequest,
  { signal }: ModelCallOptions,
): AsyncGenerator<StreamPart> {
  const { languageModel, options } = setup;
  const { clock = systemClock, maxRetries = 5, maxRetryAfterMs = 60_000 } = options;
  const callOptions = setup.toCallOptions(request);
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted === true) throw abortedError(signal);
    let error: NanoAgentError;
    try {
      yield* oneAttempt(languageModel, callOptions, signal);
      return;
    } catch (thrown) {
      if (isAborted(signal)) throw abortedError(signal);
      error = aiSdkError(thrown, languageModel);
    }
    const asked = error.details["retryAfterMs"];
    const askedMs = typeof asked === "number" ? asked : 0;
    if (!error.retryable || attempt > maxRetries || askedMs > maxRetryAfterMs) throw error;
    const delayMs = askedMs > 0 ? askedMs : backoffDelayMs(attempt, options);
    yield { type: "retry", attempt: attempt + 1, delayMs, error };
    await sleep(clock, delayMs, signal);
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
  languageModel: AiSdkLanguageModel,
  callOptions: AiSdkCallOptions,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamPart> {
  const left = new AbortController();
  const abortSignal = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  const queue: StreamPart[] = [];
  const decoder = createAiSdkDecoder(languageModel.provider, (part) => queue.push(part));
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
