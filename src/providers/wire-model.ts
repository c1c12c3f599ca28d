import { type Clock, systemClock } from "../core/base/clock.ts";
import { NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { backoffDelayMs } from "../core/base/retry.ts";
import { InputEstimates } from "../core/model/estimate.ts";
import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../core/model/model.ts";
import { Attempt } from "./attempt.ts";
import type { Transport } from "./http.ts";
import { abortedError } from "./http-error.ts";
import { type NetworkOptions, type NetworkSettings, networkSettings } from "./network.ts";
import { PartStream } from "./part-stream.ts";
import { RatePause } from "./rate-pause.ts";
import { RefusedImages } from "./refused-images.ts";
import type { Wire, WireRequest, WireTarget } from "./wire.ts";

/** Options of {@link createWireModel}. */
export interface WireModelOptions {
  readonly provider: string;
  readonly id: string;
  readonly info?: ModelInfo;
  /**
   * Asks for an answer of at most what the window leaves, where a request names no limit: servers of one's own generate until the window
   * is full, or refuse what cannot fit. Needs `info.contextWindow`. Default false.
   */
  readonly fillsWindow?: boolean;
  /** The wire format, or how to load it with the first request. */
  readonly wire: Wire | (() => Promise<Wire>);
  readonly target: WireTarget;
  readonly transport: Transport;
  readonly network?: NetworkOptions;
  readonly clock?: Clock;
  /** Shared with other models that count against the same limit. Default: one for all requests of this model. */
  readonly pause?: RatePause;
  /** Source of the jitter between retries: numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * A {@link Model} that speaks one wire format over a transport. Failures worth repeating are repeated, with growing pauses or the
 * one the provider asks for; an answer that broke off is asked for again from the start, and a `retry` part says so. While a request
 * waits because there were too many, the others of the same limit wait too before they are sent. A server that loads its model is waited
 * for, and an image the model does not take is replaced by a note.
 */
export function createWireModel(options: WireModelOptions): Model {
  const settings = networkSettings(options.network, options.target.baseUrl);
  const pause = options.pause ?? new RatePause();
  const images = new RefusedImages(options.info?.images === false);
  const fitted = windowFitter(options);
  const shared: SharedState = { options, settings, pause, images, fitted, encode: undefined };
  return {
    provider: options.provider,
    id: options.id,
    ...(options.info === undefined ? {} : { info: options.info }),
    stream: (request, callOptions = {}) => new WireCall(shared, request, callOptions).parts,
  };
}

/** What all calls of one model share. The encoder keeps the text of messages it has serialised. */
interface SharedState {
  readonly options: WireModelOptions;
  readonly settings: NetworkSettings;
  readonly pause: RatePause;
  readonly images: RefusedImages;
  /** The request with a limit for its answer. */
  readonly fitted: (request: ModelRequest) => ModelRequest;
  encode: { readonly wire: Wire; readonly encode: (request: ModelRequest) => WireRequest } | undefined;
}

/** Tokens an answer may take where the estimate leaves none: the server knows better, and says so. */
const LEAST_ANSWER_TOKENS = 256;

function windowFitter({ fillsWindow, info }: WireModelOptions): (request: ModelRequest) => ModelRequest {
  const window = info?.contextWindow;
  if (fillsWindow !== true || window === undefined) return (request) => request;
  const estimates = new InputEstimates();
  return (request) => {
    if (request.maxOutputTokens !== undefined) return request;
    const left = Math.max(window - estimates.ofRequest(request), LEAST_ANSWER_TOKENS);
    return { ...request, maxOutputTokens: Math.min(left, info?.maxOutputTokens ?? left) };
  };
}

/** Milliseconds between two looks at a server that loads its model. */
const LOADING_STEP_MS = 2_000;

/** Times a server may fail at what its model wrote: the next attempt most often ends the same way. */
const MAX_UNREADABLE = 2;

/** Milliseconds over which requests that waited for one limit are spread. */
const MAX_SPREAD_MS = 1_000;

/** Without a reason of its own an abort makes an exception with a stack trace. */
const STOPPED = "stopped";

class WireCall {
  readonly parts: PartStream<StreamPart> = new PartStream<StreamPart>({
    onStart: () => this.#start(),
    onLeave: () => this.#end(),
    onPressure: (high) => this.#attempt?.hold(high),
  });
  readonly #shared: SharedState;
  readonly #request: ModelRequest;
  readonly #signal: AbortSignal | undefined;
  #attempt: Attempt | undefined;
  #attempts = 0;
  #unreadable = 0;
  /** When the server first said that it loads its model. */
  #loadingSince: number | undefined;
  /** The request without what the model does not take. */
  #sent: ModelRequest;
  #wait: AbortController | undefined;
  #ended = false;

  constructor(shared: SharedState, request: ModelRequest, options: ModelCallOptions) {
    this.#shared = shared;
    this.#request = request;
    this.#sent = request;
    this.#signal = options.signal;
  }

  #start(): void {
    if (this.#signal?.aborted === true) {
      this.#onAbort();
      return;
    }
    this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
    const { encode, options } = this.#shared;
    if (encode !== undefined) {
      this.#send(encode.wire, encode.encode);
      return;
    }
    const loaded = typeof options.wire === "function" ? options.wire() : Promise.resolve(options.wire);
    loaded
      .then(
        (wire) => {
          this.#shared.encode ??= { wire, encode: wire.createEncoder(options.target) };
          this.#send(this.#shared.encode.wire, this.#shared.encode.encode);
        },
        (error: unknown) => this.#fail(toNanoAgentError(error)),
      )
      .catch((error: unknown) => this.#fail(toNanoAgentError(error)));
  }

  #send(wire: Wire, encode: (request: ModelRequest) => WireRequest): void {
    if (this.#ended) return;
    let request: WireRequest;
    try {
      this.#sent = this.#shared.fitted(this.#shared.images.without(this.#request));
      request = encode(this.#sent);
    } catch (error) {
      this.#fail(toNanoAgentError(error));
      return;
    }
    this.#tryInTurn(wire, request);
  }

  /** Waits once for a limit that another request ran into, a little longer than that one, so that they do not come back together. */
  #tryInTurn(wire: Wire, request: WireRequest): void {
    const { options, pause } = this.#shared;
    const { clock = systemClock, random = Math.random } = options;
    const remainingMs = pause.remainingMs(clock.elapsed());
    if (remainingMs === 0) this.#try(wire, request);
    else
      this.#sleep(remainingMs + Math.floor(random() * Math.min(MAX_SPREAD_MS, remainingMs)), () =>
        this.#try(wire, request),
      );
  }

  #sleep(delayMs: number, then: () => void): void {
    this.#wait = new AbortController();
    (this.#shared.options.clock ?? systemClock).sleep(delayMs, this.#wait.signal).then(
      then,
      // The call was stopped while it waited.
      () => undefined,
    );
  }

  #try(wire: Wire, request: WireRequest): void {
    if (this.#ended) return;
    const { options, settings } = this.#shared;
    this.#attempts++;
    this.#attempt = new Attempt({
      wire,
      request,
      target: options.target,
      transport: options.transport,
      timeouts: settings,
      maxAnswerChars: settings.maxAnswerChars,
      clock: options.clock ?? systemClock,
      onPart: (part) => this.parts.push(part),
      onDone: () => {
        this.#end();
        this.parts.close();
      },
      onError: (error) => this.#onError(error, wire, request),
    });
  }

  #onError(error: NanoAgentError, wire: Wire, request: WireRequest): void {
    const { options, settings, images, encode } = this.#shared;
    if (images.learn(this.#sent, error) && encode !== undefined) {
      this.#announce(withoutImages(error), 0);
      this.#send(wire, encode.encode);
      return;
    }
    if (error.details["reason"] === "model_loading") {
      this.#awaitModel(error, () => this.#tryInTurn(wire, request));
      return;
    }
    if (error.details["reason"] === "unreadable_output" && ++this.#unreadable >= MAX_UNREADABLE) {
      this.#fail(final(error));
      return;
    }
    if (!error.retryable) {
      this.#fail(error);
      return;
    }
    const asked = error.details["retryAfterMs"];
    if (typeof asked === "number" && asked > settings.maxRetryAfterMs) {
      this.#fail(tooLong(error, asked, settings.maxRetryAfterMs));
      return;
    }
    if (this.#attempts > settings.maxRetries) {
      this.#fail(givenUp(error, this.#attempts));
      return;
    }
    const delayMs = typeof asked === "number" && asked > 0 ? asked : backoffDelayMs(this.#attempts, options);
    this.#announce(error, delayMs);
    if (error.code === "rate_limit")
      this.#shared.pause.holdUntil((options.clock ?? systemClock).elapsed() + delayMs);
    this.#sleep(delayMs, () => this.#tryInTurn(wire, request));
  }

  /** Loading takes what it takes, and counts as no attempt. It is said once. */
  #awaitModel(error: NanoAgentError, then: () => void): void {
    const { options, settings } = this.#shared;
    const now = (options.clock ?? systemClock).elapsed();
    this.#attempts--;
    if (this.#loadingSince === undefined) {
      this.#loadingSince = now;
      this.#announce(error, LOADING_STEP_MS);
    }
    const limitMs = settings.firstEventTimeoutMs;
    if (limitMs > 0 && now - this.#loadingSince >= limitMs) this.#fail(neverLoaded(error, limitMs));
    else this.#sleep(LOADING_STEP_MS, then);
  }

  #announce(error: NanoAgentError, delayMs: number): void {
    this.parts.discard();
    this.parts.push({ type: "retry", attempt: Math.max(this.#attempts, 1) + 1, delayMs, error });
  }

  readonly #onAbort = (): void => {
    this.#fail(abortedError(this.#signal));
  };

  #fail(error: NanoAgentError): void {
    if (this.#ended) return;
    this.#end();
    this.parts.fail(error);
  }

  #end(): void {
    this.#ended = true;
    this.#wait?.abort(STOPPED);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#attempt?.cancel();
  }
}

function tooLong(error: NanoAgentError, askedMs: number, maxMs: number): NanoAgentError {
  const seconds = Math.ceil(askedMs / 1_000);
  return new NanoAgentError(
    error.code,
    `${error.message} The provider asks to wait ${seconds} s, longer than network.maxRetryAfterMs (${maxMs} ms) allows. Try again later, or raise it.`,
    { cause: error.cause, details: error.details, retryable: true },
  );
}

function neverLoaded(error: NanoAgentError, limitMs: number): NanoAgentError {
  return new NanoAgentError(
    error.code,
    `${error.message} It did so for ${limitMs} ms. Raise network.firstEventTimeoutMs if the model needs longer.`,
    { cause: error.cause, details: error.details, retryable: true },
  );
}

function withoutImages(error: NanoAgentError): NanoAgentError {
  return new NanoAgentError(error.code, `${error.message} The request goes on without the image.`, {
    cause: error.cause,
    details: error.details,
    retryable: true,
  });
}

/** The same failure, which another attempt would not change. */
function final({ code, message, cause, details }: NanoAgentError): NanoAgentError {
  return new NanoAgentError(code, message, { cause, details });
}

function givenUp(error: NanoAgentError, attempts: number): NanoAgentError {
  if (attempts === 1) return error;
  return new NanoAgentError(error.code, `${error.message} Gave up after ${attempts} attempts.`, {
    cause: error.cause,
    details: { ...error.details, attempts },
    retryable: true,
  });
}
