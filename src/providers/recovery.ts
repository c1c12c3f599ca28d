import type { Clock } from "../core/base/clock.ts";
import type { NanoAgentError } from "../core/base/errors.ts";
import { backoffDelayMs } from "../core/base/retry.ts";
import type { ModelInfo, ModelRequest, RetryPart } from "../core/model/model.ts";
import type { NetworkSettings } from "./network.ts";
import { changedError, type FailureReason } from "./provider-errors.ts";
import { RefusedImages } from "./refused-images.ts";

/** Shared by all requests of one model. */
export interface RecoveryOptions {
  readonly limits: Pick<NetworkSettings, "maxRetries" | "maxRetryAfterMs" | "firstEventTimeoutMs">;
  readonly info: ModelInfo | undefined;
  readonly clock: Clock;
  /** Source of the jitter between retries: numbers from 0 to below 1. */
  readonly random: () => number;
  /** Stands before the names of the limits where a person sets them. Default `network.`. */
  readonly prefix?: string;
}

/** The step after a failed attempt. */
export type NextStep =
  | { readonly type: "fail"; readonly error: NanoAgentError }
  | {
      readonly type: "again";
      readonly delayMs: number;
      /** For the reader, unless it was told before. */
      readonly retry?: RetryPart;
      /** The request is to be taken from {@link RequestRecovery.request} again: it has changed. */
      readonly isChanged: boolean;
    };

/** Milliseconds between two looks at a server that loads its model. */
const LOADING_STEP_MS = 2_000;

/** Times a server may fail at what its model wrote: the next attempt most often ends the same way. */
const MAX_UNREADABLE = 2;

/**
 * The rule for failed requests, whatever they are sent with: what is worth repeating is repeated, with
 * growing pauses or the one the provider asks for; a server that loads its model is waited for; an image the
 * model does not take is replaced by a note.
 */
export class Recovery {
  readonly options: RecoveryOptions;
  readonly images: RefusedImages;

  constructor(options: RecoveryOptions) {
    this.options = options;
    this.images = new RefusedImages(options.info?.images === false);
  }

  begin(request: ModelRequest): RequestRecovery {
    return new RequestRecovery(this, request);
  }
}

/** One request, its attempts, and what follows on each that failed. */
export class RequestRecovery {
  readonly #recovery: Recovery;
  readonly #request: ModelRequest;
  #sent: ModelRequest;
  #attempts = 1;
  #unreadable = 0;
  /** When the server first said that it loads its model. */
  #loadingSince: number | undefined;

  constructor(recovery: Recovery, request: ModelRequest) {
    this.#recovery = recovery;
    this.#request = request;
    this.#sent = request;
  }

  /** The request as it can be sent now. */
  get request(): ModelRequest {
    this.#sent = this.#recovery.images.without(this.#request);
    return this.#sent;
  }

  after(error: NanoAgentError): NextStep {
    const { images, options } = this.#recovery;
    const { limits, prefix = "network." } = options;
    if (images.learn(this.#sent, error))
      return this.#again(0, {
        error: withSentence(error, "The request goes on without the image."),
        isChanged: true,
      });
    const reason = error.details["reason"] as FailureReason | undefined;
    if (reason === "model_loading") return this.#awaitModel(error);
    if (reason === "unreadable_output" && ++this.#unreadable >= MAX_UNREADABLE)
      return fail(changedError(error, { retryable: false }));
    if (!error.retryable) return fail(error);
    const asked = error.details["retryAfterMs"];
    if (typeof asked === "number" && asked > limits.maxRetryAfterMs)
      return fail(tooLong(error, { askedMs: asked, maxMs: limits.maxRetryAfterMs, prefix }));
    if (this.#attempts > limits.maxRetries) return fail(givenUp(error, this.#attempts));
    const delayMs = typeof asked === "number" && asked > 0 ? asked : backoffDelayMs(this.#attempts, options);
    return this.#again(delayMs, { error });
  }

  #again(
    delayMs: number,
    { error, isChanged = false }: { readonly error: NanoAgentError; readonly isChanged?: boolean },
  ): NextStep {
    this.#attempts++;
    return {
      type: "again",
      delayMs,
      isChanged,
      retry: { type: "retry", attempt: this.#attempts, delayMs, error },
    };
  }

  /** Loading takes what it takes, and counts as no attempt. It is said once. */
  #awaitModel(error: NanoAgentError): NextStep {
    const { clock, limits, prefix = "network." } = this.#recovery.options;
    const now = clock.elapsed();
    const isFirst = this.#loadingSince === undefined;
    this.#loadingSince ??= now;
    const limitMs = limits.firstEventTimeoutMs;
    if (limitMs > 0 && now - this.#loadingSince >= limitMs)
      return fail(neverLoaded(error, { limitMs, prefix }));
    const delayMs = LOADING_STEP_MS;
    const retry = { type: "retry", attempt: this.#attempts + 1, delayMs, error } as const;
    return { type: "again", delayMs, isChanged: false, ...(isFirst ? { retry } : {}) };
  }
}

function fail(error: NanoAgentError): NextStep {
  return { type: "fail", error };
}

function tooLong(
  error: NanoAgentError,
  { askedMs, maxMs, prefix }: { readonly askedMs: number; readonly maxMs: number; readonly prefix: string },
): NanoAgentError {
  const seconds = Math.ceil(askedMs / 1_000);
  return withSentence(
    error,
    `The provider asks to wait ${seconds} s, longer than ${prefix}maxRetryAfterMs (${maxMs} ms) allows. Try again later, or raise it.`,
    { limit: "maxRetryAfterMs" },
  );
}

function neverLoaded(
  error: NanoAgentError,
  { limitMs, prefix }: { readonly limitMs: number; readonly prefix: string },
): NanoAgentError {
  return withSentence(
    error,
    `It did so for ${limitMs} ms. Raise ${prefix}firstEventTimeoutMs if the model needs longer.`,
    { limit: "firstEventTimeoutMs" },
  );
}

function givenUp(error: NanoAgentError, attempts: number): NanoAgentError {
  return attempts === 1 ? error : withSentence(error, `Gave up after ${attempts} attempts.`, { attempts });
}

/** The same failure with a further sentence; another attempt may help. */
function withSentence(
  error: NanoAgentError,
  more: string,
  facts: { readonly attempts?: number; readonly limit?: keyof NetworkSettings } = {},
): NanoAgentError {
  const message = `${error.message} ${more}`;
  return changedError(error, { message, details: { ...error.details, ...facts }, retryable: true });
}
