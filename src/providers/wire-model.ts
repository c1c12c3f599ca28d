import { assertEngine } from "../core/base/assert-engine.ts";
import { type Clock, systemClock } from "../core/base/clock.ts";
import { defined } from "../core/base/defined.ts";
import { InputEstimates } from "../core/model/estimate.ts";
import type { Model, ModelInfo, ModelRequest } from "../core/model/model.ts";
import { Attempt } from "./attempt.ts";
import type { Transport } from "./http.ts";
import { type CallSetup, ModelCall } from "./model-call.ts";
import { type NetworkOptions, networkSettings } from "./network.ts";
import { RatePause } from "./rate-pause.ts";
import { Recovery } from "./recovery.ts";
import { wellFormedJson } from "./serialise-once.ts";
import type { Wire, WireRequest, WireTarget } from "./wire.ts";

/** Options of {@link createWireModel}. */
export interface WireModelOptions {
  readonly provider: string;
  readonly id: string;
  readonly info?: ModelInfo;
  /**
   * Asks for an answer of at most what the window leaves, where a request names no limit: own servers
   * generate until the window is full, or refuse what cannot fit. Needs `info.contextWindow`. Default false.
   */
  readonly fillsWindow?: boolean;
  /** The wire format, or how to load it with the first request. */
  readonly wire: Wire | (() => Promise<Wire>);
  readonly target: WireTarget;
  readonly transport: Transport;
  readonly network?: NetworkOptions;
  readonly clock?: Clock;
  /** Shared with other models that count against the same limit. Default: one for this model. */
  readonly pause?: RatePause;
  /** Source of the jitter between retries: numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * A {@link Model} that speaks one wire format over a transport. Failures worth repeating are repeated, with
 * growing pauses or the one the provider asks for; an answer that broke off is asked for again from the
 * start, and a `retry` part says so. While a request waits because there were too many, the others of the
 * same limit wait too before they are sent. A server that loads its model is waited for, and an image the
 * model does not take is replaced by a note.
 */
export function createWireModel(options: WireModelOptions): Model {
  assertEngine();
  const { info, target, transport, clock = systemClock, random = Math.random } = options;
  const settings = networkSettings(options.network, target.baseUrl);
  const fitted = windowFitter(options);
  let loaded: { readonly wire: Wire; readonly encode: (request: ModelRequest) => WireRequest } | undefined;
  const load = async (): Promise<NonNullable<typeof loaded>> => {
    const wire = typeof options.wire === "function" ? await options.wire() : options.wire;
    // The encoder keeps the text of messages it has serialised, so there is only one.
    loaded ??= { wire, encode: wire.createEncoder(target) };
    return loaded;
  };
  const setup: CallSetup<{ readonly wire: Wire; readonly request: WireRequest }> = {
    recovery: new Recovery({ limits: settings, info, clock, random }),
    pause: options.pause ?? new RatePause(),
    encode: async (request) => {
      const { wire, encode } = loaded ?? (await load());
      const encoded = encode(fitted(request));
      return { wire, request: { ...encoded, body: wellFormedJson(encoded.body) } };
    },
    send: ({ wire, request }, onPart) =>
      new Attempt({ wire, request, target, transport, settings, clock, onPart }),
  };
  return {
    provider: options.provider,
    id: options.id,
    ...defined({ info }),
    stream: (request, callOptions = {}) => new ModelCall(setup, request, callOptions).parts,
  };
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
