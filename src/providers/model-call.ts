import { backoffDelayMs, type Clock } from "../core/base/async.ts";
import { NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { EventStream } from "../core/base/event-stream.ts";
import type { InputEstimates } from "../core/model/estimate.ts";
import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../core/model/model.ts";
import type { NetworkSettings } from "./network.ts";
import { type FailureReason, namedLimit, toOverflowError, withErrorChanges } from "./provider-errors.ts";
import type { Refusals } from "./refusals.ts";
import type { ShownQuirks } from "./wire.ts";

/** Pauses requests after a provider refused one as too many; shared by all under the same limit. */
export class RatePause {
  #untilMs = 0;

  /** No request before this time (of the clock's `elapsed`). A time before the known one changes nothing. */
  holdUntil(timeMs: number): void {
    this.#untilMs = Math.max(this.#untilMs, timeMs);
  }

  /** Milliseconds a request should wait now; 0: none. */
  remainingMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs);
  }
}

/** The pauses of several providers, one per address that stands for a limit. */
export class RatePauses {
  readonly #pauses = new Map<string, RatePause>();

  /** The pause for an address, always the same object. */
  of(address: string): RatePause {
    const known = this.#pauses.get(address) ?? new RatePause();
    this.#pauses.set(address, known);
    return known;
  }
}

/** Facts learned from requests to one model in this process; shared by all its callers. */
export interface LearnedModel {
  /** Tokens of the largest request it accepts, by its own account. */
  contextWindow?: number;
  /** True once it has answered: a connection refused later counts as an interruption. */
  hasAnswered: boolean;
  /** Quirks learned from refusals; they override configured ones. */
  quirks: ShownQuirks;
  /** Number of changes to `quirks`. */
  changes: number;
}

/** Learned facts of several models, one per address. */
export class LearnedModels {
  readonly #models = new Map<string, LearnedModel>();

  /** The facts for an address, always the same object. */
  of(address: string): LearnedModel {
    const known = this.#models.get(address) ?? newLearnedModel();
    this.#models.set(address, known);
    return known;
  }
}

export function newLearnedModel(): LearnedModel {
  return { hasAnswered: false, quirks: {}, changes: 0 };
}

export function createCallingModel<Encoded>(
  provider: string,
  info: ModelInfo | undefined,
  setup: CallSetup<Encoded>,
): Model {
  return {
    provider,
    id: setup.modelId,
    get info() {
      return infoWithLearned(info, setup.learned);
    },
    stream: (request, callOptions = {}) => new ModelCall(setup, request, callOptions).parts,
  };
}

/** A model's facts combined with learned ones: the smaller window applies. */
export function infoWithLearned(
  info: ModelInfo | undefined,
  { contextWindow }: LearnedModel,
): ModelInfo | undefined {
  if (contextWindow === undefined || contextWindow >= (info?.contextWindow ?? Number.POSITIVE_INFINITY))
    return info;
  return { ...info, contextWindow };
}

export interface CallSetup<Encoded> {
  readonly limits: Pick<NetworkSettings, "maxRetries" | "maxRetryAfterMs" | "firstEventTimeoutMs">;
  /** Precedes the names of limits as a person configures them. */
  readonly prefix: "network." | "";
  readonly modelId: string;
  readonly learned: LearnedModel;
  readonly refusals: Refusals;
  readonly estimates: InputEstimates;
  readonly clock: Clock;
  /** Jitter between retries: numbers from 0 up to but not including 1. */
  readonly random: () => number;
  readonly encode: (request: ModelRequest) => Encoded | Promise<Encoded>;
  readonly send: (request: Encoded, emit: (part: StreamPart) => void) => RequestInFlight;
  /** Adapts the encoding of requests if a refusal shows how. Returns a description of the change. */
  readonly adapt?: (error: NanoAgentError) => string | undefined;
  /** Shared by all under the same limit. Default: requests do not wait for each other. */
  readonly pause?: RatePause;
}

export interface RequestInFlight {
  /** Resolves at the end of the answer, rejects if it fails. Ignored after `cancel`. */
  readonly done: Promise<void>;
  readonly cancel: () => void;
  /** Pauses the answer (`true`) or resumes it. */
  readonly setPaused: (held: boolean) => void;
}

/** Milliseconds over which requests that waited for the same limit are spread. */
const MAX_SPREAD_MS = 1_000;

/** Without an explicit reason, an abort creates an exception with a stack trace. */
const STOP_REASON = "stopped";

/** Milliseconds in which a host that has never answered must accept a connection. */
const FIRST_CONTACT_MS = 2_500;

const UNREACHABLE: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** Milliseconds between two checks of a server that is loading its model. */
const LOADING_STEP_MS = 2_000;

/** How often a server may fail to parse its model's output: the next attempt mostly fails the same way. */
const MAX_UNREADABLE = 2;
const MAX_CHANGES = 20;

/**
 * One request to a model, including all attempts. Begins when its parts are read. Retryable failures are
 * retried, with growing delays or the one the provider asks for; a server that is loading its model is waited
 * for. If a refusal shows what the model does not accept, the request is sent again without it.
 */
export class ModelCall<Encoded> {
  readonly parts: EventStream<StreamPart> = new EventStream<StreamPart>({
    onStart: () => void this.#run(),
    onCancel: () => this.#end(),
    onPressure: (isHigh) => this.#inFlight?.setPaused(isHigh),
  });
  readonly #setup: CallSetup<Encoded>;
  readonly #request: ModelRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #startedAt: number;
  #sent: ModelRequest;
  /** Value of `learned.changes` when the request was encoded. */
  #changes = 0;
  #attempts = 1;
  #adaptations = 0;
  #unreadableAnswers = 0;
  /** When the server first reported that it is loading its model. */
  #loadingSince: number | undefined;
  #inFlight: RequestInFlight | undefined;
  #sleepController: AbortController | undefined;
  #hasEnded = false;

  constructor(setup: CallSetup<Encoded>, request: ModelRequest, { signal }: ModelCallOptions) {
    this.#setup = setup;
    this.#request = request;
    this.#sent = request;
    this.#signal = signal;
    this.#startedAt = setup.clock.elapsed();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    if (this.#signal?.aborted === true) {
      this.#onAbort();
      return;
    }
    this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
    try {
      let encoded: Encoded | undefined;
      while (!this.#hasEnded) {
        encoded ??= await this.#encode();
        const waitMs = this.#pausedMs();
        if (waitMs > 0) await this.#sleep(waitMs);
        if (this.#hasEnded) return;
        const error = await this.#attempt(encoded);
        if (this.#hasEnded) return;
        if (error === undefined) {
          this.#setup.learned.hasAnswered = true;
          this.#end();
          this.parts.end();
        } else if (this.#adaptTo(error)) encoded = undefined;
        else await this.#sleep(this.#delayAfter(error));
      }
    } catch (error) {
      this.#fail(toNanoAgentError(error));
    }
  }

  #encode(): Encoded | Promise<Encoded> {
    const { encode, refusals, learned } = this.#setup;
    this.#changes = learned.changes;
    this.#sent = refusals.withoutRefused(this.#request);
    return encode(this.#sent);
  }

  /** Resolves to the error of a failed attempt, or to undefined if the answer is complete. */
  async #attempt(encoded: Encoded): Promise<NanoAgentError | undefined> {
    this.#inFlight = this.#setup.send(encoded, (part) => this.parts.push(part));
    try {
      await this.#inFlight.done;
      return undefined;
    } catch (error) {
      return toNanoAgentError(error);
    }
  }

  /** Returns true if the request is sent again in another form, which is announced to the reader. */
  #adaptTo(error: NanoAgentError): boolean {
    const { learned } = this.#setup;
    if (error.details["status"] !== undefined) learned.hasAnswered = true;
    // A server may refuse two forms of a field, one after the other.
    if (this.#adaptations === MAX_CHANGES) return false;
    const change = this.#learnFrom(error);
    if (change === undefined) return false;
    this.#adaptations++;
    // The change comes first: one terminal line has no room for a server's whole message.
    const message = `${change} ${error.message}`;
    this.#announce(withErrorChanges(error, { message, retryable: true }), ++this.#attempts, 0);
    return true;
  }

  #learnFrom(error: NanoAgentError): string | undefined {
    const { refusals, learned, adapt } = this.#setup;
    const change = refusals.learn(this.#sent, error);
    if (change !== undefined) return change;
    if (error.code === "bad_request" && learned.changes > this.#changes)
      return "The request continues in the form that this model accepted before.";
    return adapt?.(error);
  }

  /** Announces the next attempt and returns the delay in milliseconds. Throws if no attempt remains. */
  #delayAfter(error: NanoAgentError): number {
    const { limits, clock, pause } = this.#setup;
    const tooLong = this.#asOverflow(error);
    if (tooLong !== undefined) throw tooLong;
    const reason = error.details["reason"] as FailureReason | undefined;
    if (reason === "model_loading") return this.#loadingDelay(error);
    if (reason === "unreadable_output" && ++this.#unreadableAnswers >= MAX_UNREADABLE)
      throw withErrorChanges(error, { retryable: false });
    if (!error.retryable) throw error;
    const retryMs = error.details["retryAfterMs"];
    if (typeof retryMs === "number" && retryMs > limits.maxRetryAfterMs)
      throw this.#retryTooLate(error, retryMs);
    const delayMs =
      typeof retryMs === "number" && retryMs > 0 ? retryMs : backoffDelayMs(this.#attempts, this.#setup);
    if (this.#attempts > limits.maxRetries || this.#isUnreachable(error, delayMs)) throw this.#gaveUp(error);
    this.#announce(error, ++this.#attempts, delayMs);
    if (error.code === "rate_limit") pause?.holdUntil(clock.elapsed() + delayMs);
    return delayMs;
  }

  /** Voids the parts streamed so far. */
  #announce(error: NanoAgentError, attempt: number, delayMs: number): void {
    this.parts.discard();
    this.parts.push({ type: "retry", attempt, delayMs, error });
  }

  /** Loading may take its time, and does not count as an attempt. It is announced once. */
  #loadingDelay(error: NanoAgentError): number {
    const { clock, limits, prefix } = this.#setup;
    const now = clock.elapsed();
    if (this.#loadingSince === undefined) this.#announce(error, this.#attempts + 1, LOADING_STEP_MS);
    this.#loadingSince ??= now;
    const limitMs = limits.firstEventTimeoutMs;
    if (limitMs === 0 || now - this.#loadingSince < limitMs) return LOADING_STEP_MS;
    const message = `It did so for ${limitMs} ms. Raise ${prefix}firstEventTimeoutMs if the model needs longer.`;
    throw withSentence(error, message, { limit: "firstEventTimeoutMs" });
  }

  /** Recognises a refusal as too long. The limit it names becomes the model's window. */
  #asOverflow(error: NanoAgentError): NanoAgentError | undefined {
    const { estimates, modelId, learned } = this.#setup;
    const inputTokens = (): number => estimates.ofRequest(this.#sent);
    const tooLong = error.code === "context_overflow" ? error : toOverflowError(error, modelId, inputTokens);
    if (tooLong === undefined) return undefined;
    const limit = namedLimit(error.message, inputTokens());
    if (limit !== undefined) learned.contextWindow = Math.min(learned.contextWindow ?? limit, limit);
    return tooLong;
  }

  /** A host that has never answered is more likely absent than restarting. */
  #isUnreachable({ details }: NanoAgentError, delayMs: number): boolean {
    const { clock, learned } = this.#setup;
    const waitedMs = clock.elapsed() - this.#startedAt + delayMs;
    return !learned.hasAnswered && UNREACHABLE.has(details["cause"]) && waitedMs > FIRST_CONTACT_MS;
  }

  #retryTooLate(error: NanoAgentError, retryMs: number): NanoAgentError {
    const { limits, prefix } = this.#setup;
    const seconds = Math.ceil(retryMs / 1_000);
    const message = `The provider asks to wait ${seconds} s, longer than ${prefix}maxRetryAfterMs (${limits.maxRetryAfterMs} ms) allows. Try again later, or raise it.`;
    return withSentence(error, message, { limit: "maxRetryAfterMs" });
  }

  #gaveUp(error: NanoAgentError): NanoAgentError {
    const attempts = this.#attempts;
    return attempts === 1 ? error : withSentence(error, `Gave up after ${attempts} attempts.`, { attempts });
  }

  /** Rest of a pause for the shared limit, plus jitter so that requests do not all return at once. */
  #pausedMs(): number {
    const { pause, clock, random } = this.#setup;
    const remainingMs = pause?.remainingMs(clock.elapsed()) ?? 0;
    if (remainingMs <= 0) return 0;
    return remainingMs + Math.floor(random() * Math.min(MAX_SPREAD_MS, remainingMs));
  }

  #sleep(delayMs: number): Promise<void> {
    this.#sleepController ??= new AbortController();
    return this.#setup.clock.sleep(delayMs, this.#sleepController.signal);
  }

  readonly #onAbort = (): void => {
    const cause: unknown = this.#signal?.reason;
    this.#fail(new NanoAgentError("aborted", "The model request was aborted.", { cause }));
  };

  /** The reader gets the error immediately, ahead of unread parts. */
  #fail(error: NanoAgentError): void {
    if (this.#hasEnded) return;
    this.#end();
    this.parts.discard();
    this.parts.fail(error);
  }

  #end(): void {
    this.#hasEnded = true;
    this.#sleepController?.abort(STOP_REASON);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#inFlight?.cancel();
  }
}

/** The same failure with an extra sentence; another attempt may help. */
function withSentence(
  error: NanoAgentError,
  sentence: string,
  facts: { readonly attempts?: number; readonly limit?: keyof NetworkSettings },
): NanoAgentError {
  const message = `${error.message} ${sentence}`;
  return withErrorChanges(error, { message, details: { ...error.details, ...facts }, retryable: true });
}
