import { type Clock, systemClock } from "../core/base/clock.ts";
import { NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { backoffDelayMs } from "../core/base/retry.ts";
import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../core/model/model.ts";
import { Attempt } from "./attempt.ts";
import type { Transport } from "./http.ts";
import { abortedError } from "./http-error.ts";
import { type NetworkOptions, type NetworkSettings, networkSettings } from "./network.ts";
import { PartStream } from "./part-stream.ts";
import { RatePause } from "./rate-pause.ts";
import type { Wire, WireRequest, WireTarget } from "./wire.ts";

/** Options of {@link createWireModel}. */
export interface WireModelOptions {
  readonly provider: string;
  readonly id: string;
  readonly info?: ModelInfo;
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
 * waits because there were too many, the others of the same limit wait too before they are sent.
 */
export function createWireModel(options: WireModelOptions): Model {
  const settings = networkSettings(options.network, options.target.baseUrl);
  const pause = options.pause ?? new RatePause();
  const shared: Shared = { options, settings, pause, encode: undefined };
  return {
    provider: options.provider,
    id: options.id,
    ...(options.info === undefined ? {} : { info: options.info }),
    stream: (request, callOptions = {}) => new WireCall(shared, request, callOptions).parts,
  };
}

/** What all calls of one model share. The encoder keeps the text of messages it has serialised. */
interface Shared {
  readonly options: WireModelOptions;
  readonly settings: NetworkSettings;
  readonly pause: RatePause;
  encode: { readonly wire: Wire; readonly encode: (request: ModelRequest) => WireRequest } | undefined;
}

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
  readonly #shared: Shared;
  readonly #request: ModelRequest;
  readonly #signal: AbortSignal | undefined;
  #attempt: Attempt | undefined;
  #attempts = 0;
  #wait: AbortController | undefined;
  #ended = false;

  constructor(shared: Shared, request: ModelRequest, options: ModelCallOptions) {
    this.#shared = shared;
    this.#request = request;
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
      request = encode(this.#request);
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
    const { options, settings } = this.#shared;
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
    this.parts.discard();
    this.parts.push({ type: "retry", attempt: this.#attempts + 1, delayMs, error });
    if (error.code === "rate_limit")
      this.#shared.pause.holdUntil((options.clock ?? systemClock).elapsed() + delayMs);
    this.#sleep(delayMs, () => this.#tryInTurn(wire, request));
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

function givenUp(error: NanoAgentError, attempts: number): NanoAgentError {
  if (attempts === 1) return error;
  return new NanoAgentError(error.code, `${error.message} Gave up after ${attempts} attempts.`, {
    cause: error.cause,
    details: { ...error.details, attempts },
    retryable: true,
  });
}
