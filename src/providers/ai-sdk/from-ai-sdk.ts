import { type Clock, systemClock } from "../../core/base/clock.ts";
import { NanoAgentError } from "../../core/base/errors.ts";
import type { Model, ModelInfo, StreamPart } from "../../core/model/model.ts";
import { boundedParts } from "../answer-bound.ts";
import { type CallSetup, ModelCall, type SentRequest } from "../model-call.ts";
import { NETWORK_DEFAULTS } from "../network.ts";
import { incompleteAnswer } from "../provider-errors.ts";
import { Recovery } from "../recovery.ts";
import { createCallOptions } from "./call-options.ts";
import { type AiSdkDecoder, createAiSdkDecoder } from "./decode-stream.ts";
import type {
  AiSdkCallOptions,
  AiSdkLanguageModel,
  AiSdkStream,
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
  /** Characters in one answer, reasoning and arguments too; more end the request. Default 16,000,000. */
  readonly maxAnswerChars?: number;
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
  const version = versionOf(languageModel);
  const toCallOptions = createCallOptions({ version, provider: languageModel.provider });
  const { clock = systemClock, info, random = Math.random, ...given } = options;
  const limits = { ...NETWORK_DEFAULTS, ...given };
  const setup: CallSetup<AiSdkCallOptions> = {
    recovery: new Recovery({ limits, info, clock, random, prefix: "" }),
    encode: toCallOptions,
    send: (callOptions, emit) =>
      new SdkRequest(languageModel, callOptions, { emit, maxAnswerChars: limits.maxAnswerChars }),
  };
  return {
    provider: languageModel.provider,
    id: languageModel.modelId,
    ...(info === undefined ? {} : { info }),
    stream: (request, callOptions = {}) => new ModelCall(setup, request, callOptions).parts,
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

/** One request by the SDK. Cancelled by signal until its answer begins, then by its reader. */
class SdkRequest implements SentRequest {
  readonly done: Promise<void>;
  readonly #model: AiSdkLanguageModel;
  readonly #cancelled = new AbortController();
  #reader: ReturnType<AiSdkStream["getReader"]> | undefined;
  /** Closed while the answer is held back. */
  #gate: PromiseWithResolvers<void> | undefined;

  constructor(
    model: AiSdkLanguageModel,
    callOptions: AiSdkCallOptions,
    { emit, maxAnswerChars }: { readonly emit: (part: StreamPart) => void; readonly maxAnswerChars: number },
  ) {
    this.#model = model;
    const { provider } = model;
    const decoder = createAiSdkDecoder(
      provider,
      boundedParts(emit, { maxAnswerChars, provider, prefix: "" }),
    );
    this.done = this.#read(callOptions, decoder).finally(this.cancel);
  }

  readonly cancel = (): void => {
    this.#cancelled.abort();
    this.#reader?.cancel().catch(() => undefined);
    this.hold(false);
  };

  readonly hold = (held: boolean): void => {
    if (held) this.#gate ??= Promise.withResolvers<void>();
    else {
      this.#gate?.resolve();
      this.#gate = undefined;
    }
  };

  async #read(callOptions: AiSdkCallOptions, decoder: AiSdkDecoder): Promise<void> {
    const { signal } = this.#cancelled;
    try {
      const { stream } = await this.#model.doStream({ ...callOptions, abortSignal: signal } as never);
      this.#reader = stream.getReader();
      if (signal.aborted) this.cancel();
      for (;;) {
        const { done, value } = await this.#reader.read();
        await this.#gate?.promise;
        if (done) throw incompleteAnswer(this.#model.provider, this.#model.modelId);
        if (signal.aborted || decoder.chunk(value as AiSdkStreamPart)) return;
      }
    } catch (error) {
      throw aiSdkError(error, this.#model);
    }
  }
}
