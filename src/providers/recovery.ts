import type { Clock } from "../core/base/clock.ts";
import type { NanoAgentError } from "../core/base/errors.ts";
import { backoffDelayMs } from "../core/base/retry.ts";
import { InputEstimates } from "../core/model/estimate.ts";
import type { ModelInfo, ModelRequest, RetryPart } from "../core/model/model.ts";
import type { LearnedModel } from "./learned-model.ts";
import type { NetworkSettings } from "./network.ts";
import { asTooLong, changedError, type FailureReason } from "./provider-errors.ts";
import { RefusedImages } from "./refused-images.ts";
import { RefusedTools } from "./refused-tools.ts";
import type { SealedBlocks } from "./sealed-blocks.ts";
import { limitIn } from "./too-long.ts";

/** Shared by all requests of one model. */
export interface RecoveryOptions {
  readonly limits: Pick<NetworkSettings, "maxRetries" | "maxRetryAfterMs" | "firstEventTimeoutMs">;
  readonly info: ModelInfo | undefined;
  readonly modelId: string;
  readonly learned: LearnedModel;
  readonly seals: SealedBlocks;
  /** Changes how requests are encoded, where a refusal shows how. Returns what was changed, for people. */
  readonly adapt?: (error: NanoAgentError) => string | undefined;
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

/** Milliseconds in which a host that has never answered must take a connection. */
const FIRST_CONTACT_MS = 2_500;

/** Codes of the system for a host that is not there. */
const ABSENT: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH"]);

/** Milliseconds between two looks at a server that loads its model. */
const LOADING_STEP_MS = 2_000;

/** Times a server may fail at what its model wrote: the next attempt most often ends the same way. */
const MAX_UNREADABLE = 2;

/**
 * The rule for failed requests, whatever they are sent with: what is worth repeating is repeated, with
 * growing pauses or the one the provider asks for; a server that loads its model is waited for. Where a
 * refusal says what the model does not take, the request goes once more without it: images, tools with a
 * schema that is refused, seals of other makers, fields of the format.
 */
export class Recovery {
  readonly options: RecoveryOptions;
  readonly images: RefusedImages;
  readonly estimates: InputEstimates = new InputEstimates();
  readonly tools: RefusedTools = new RefusedTools();

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
  readonly #startedAt: number;
  /** Changes of the encoder that the request was encoded with. */
  #changes = 0;
  #attempts = 1;
  #unreadable = 0;
  /** When the server first said that it loads its model. */
  #loadingSince: number | undefined;

  constructor(recovery: Recovery, request: ModelRequest) {
    this.#recovery = recovery;
    this.#request = request;
    this.#sent = request;
    this.#startedAt = recovery.options.clock.elapsed();
  }

  /** The request as it can be sent now. */
  get request(): ModelRequest {
    const { images, tools, options } = this.#recovery;
    this.#changes = options.learned.changes;
    this.#sent = options.seals.without(tools.without(images.without(this.#request)));
    return this.#sent;
  }

  /** The answer is complete. */
  answered(): void {
    this.#recovery.options.learned.hasAnswered = true;
  }

  after(error: NanoAgentError): NextStep {
    const { options } = this.#recovery;
    const { limits, learned, prefix = "network." } = options;
    if (error.details["status"] !== undefined) learned.hasAnswered = true;
    const change = this.#changeFor(error);
    // The change comes first: one line of a terminal has no room for all that a server says.
    if (change !== undefined) {
      const told = changedError(error, { message: `${change} ${error.message}`, retryable: true });
      return this.#again(0, { error: told, isChanged: true });
    }
    const tooLong = this.#tooLong(error);
    if (tooLong !== undefined) return fail(tooLong);
    const reason = error.details["reason"] as FailureReason | undefined;
    if (reason === "model_loading") return this.#awaitModel(error);
    if (reason === "unreadable_output" && ++this.#unreadable >= MAX_UNREADABLE)
      return fail(changedError(error, { retryable: false }));
    if (!error.retryable) return fail(error);
    const asked = error.details["retryAfterMs"];
    if (typeof asked === "number" && asked > limits.maxRetryAfterMs)
      return fail(waitsTooLong(error, { askedMs: asked, maxMs: limits.maxRetryAfterMs, prefix }));
    if (this.#attempts > limits.maxRetries) return fail(givenUp(error, this.#attempts));
    const delayMs = typeof asked === "number" && asked > 0 ? asked : backoffDelayMs(this.#attempts, options);
    if (this.#isAbsent(error, delayMs)) return fail(givenUp(error, this.#attempts));
    return this.#again(delayMs, { error });
  }

  /** The change that lets the request go once more, in words; `undefined`: the refusal is about none. */
  #changeFor(error: NanoAgentError): string | undefined {
    const { images, tools, options } = this.#recovery;
    if (images.learn(this.#sent, error)) return "The request goes on without the image.";
    const tool = tools.learn(this.#sent, error);
    if (tool !== undefined) return `The request goes on without the tool ${tool}.`;
    if (options.seals.learn(this.#sent, error))
      return "The request goes on without the reasoning that this model cannot verify.";
    if (error.code === "bad_request" && options.learned.changes > this.#changes)
      return "The request goes on as other requests have shown this model to want it.";
    return options.adapt?.(error);
  }

  /** A refusal as too long. The limit it names is the window of the model from now on. */
  #tooLong(error: NanoAgentError): NanoAgentError | undefined {
    const { estimates, options } = this.#recovery;
    const inputTokens = (): number => estimates.ofRequest(this.#sent);
    const { modelId, learned } = options;
    const isKnown = error.code === "context_overflow";
    const tooLong = isKnown ? error : asTooLong(error, { modelId, inputTokens });
    if (tooLong === undefined) return undefined;
    const limit = limitIn(error.message, inputTokens());
    if (limit !== undefined) learned.contextWindow = Math.min(learned.contextWindow ?? limit, limit);
    return tooLong;
  }

  /** Nobody has answered there yet: more likely nobody will than that somebody is restarting. */
  #isAbsent({ details }: NanoAgentError, delayMs: number): boolean {
    const { clock, learned } = this.#recovery.options;
    const waitedMs = clock.elapsed() - this.#startedAt + delayMs;
    return !learned.hasAnswered && ABSENT.has(details["cause"]) && waitedMs > FIRST_CONTACT_MS;
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

function waitsTooLong(
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
