import { type Clock, systemClock } from "../core/base/clock.ts";
import { type NanoAgentError, toNanoAgentError } from "../core/base/errors.ts";
import { InputEstimates } from "../core/model/estimate.ts";
import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../core/model/model.ts";
import { Attempt } from "./attempt.ts";
import type { Transport } from "./http.ts";
import { abortedError } from "./http-error.ts";
import { type NetworkOptions, type NetworkSettings, networkSettings } from "./network.ts";
import { PartStream } from "./part-stream.ts";
import { RatePause } from "./rate-pause.ts";
import { Recovery, type RequestRecovery } from "./recovery.ts";
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
  const { info, clock = systemClock, random = Math.random } = options;
  const recovery = new Recovery({ limits: settings, info, clock, random });
  const fitted = windowFitter(options);
  const shared: SharedState = { options, settings, pause, recovery, fitted, encode: undefined };
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
  readonly recovery: Recovery;
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
  readonly #recovery: RequestRecovery;
  readonly #signal: AbortSignal | undefined;
  #attempt: Attempt | undefined;
  #wait: AbortController | undefined;
  #ended = false;

  constructor(shared: SharedState, request: ModelRequest, options: ModelCallOptions) {
    this.#shared = shared;
    this.#recovery = shared.recovery.begin(request);
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
      request = encode(this.#shared.fitted(this.#recovery.request));
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
    const { options, encode, pause } = this.#shared;
    const next = this.#recovery.after(error);
    if (next.type === "fail") {
      this.#fail(next.error);
      return;
    }
    const { delayMs, retry, isChanged } = next;
    if (retry !== undefined) {
      this.parts.discard();
      this.parts.push(retry);
      if (error.code === "rate_limit") pause.holdUntil((options.clock ?? systemClock).elapsed() + delayMs);
    }
    if (isChanged && encode !== undefined) this.#send(wire, encode.encode);
    else this.#sleep(delayMs, () => this.#tryInTurn(wire, request));
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
