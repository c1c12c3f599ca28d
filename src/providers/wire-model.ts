import { type Clock, systemClock } from "../core/base/async.ts";
import { assertEngine } from "../core/base/errors.ts";
import { InputEstimates } from "../core/model/estimate.ts";
import type { BlockPart, Model, ModelInfo, ModelRequest } from "../core/model/model.ts";
import { Attempt } from "./attempt.ts";
import {
  type CallSetup,
  createCallingModel,
  infoWithLearned,
  type LearnedModel,
  newLearnedModel,
  RatePause,
} from "./model-call.ts";
import { type NetworkOptions, networkSettings } from "./network.ts";
import { Refusals } from "./refusals.ts";
import { wellFormedJson } from "./serialise-once.ts";
import type { Transport } from "./transport.ts";
import type { Wire, WireRequest, WireTarget } from "./wire.ts";

/** Options of {@link createWireModel}. */
export interface WireModelOptions {
  readonly provider: string;
  readonly id: string;
  readonly info?: ModelInfo;
  /**
   * Limits the answer to the rest of the window if a request sets no limit: self-hosted servers generate
   * until the window is full, or refuse requests that cannot fit. Needs `info.contextWindow`. Default false.
   */
  readonly fillsWindow?: boolean;
  /** The wire format, or a function that loads it on the first request. */
  readonly wire: Wire | (() => Promise<Wire>);
  readonly target: WireTarget;
  readonly transport: Transport;
  readonly network?: NetworkOptions;
  readonly clock?: Clock;
  /** Shared by all models with the same address and id. Default: only its own. */
  readonly learned?: LearnedModel;
  /** Shared with other models under the same limit. Default: one for this model. */
  readonly pause?: RatePause;
  /** Jitter between retries: numbers from 0 up to but not including 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * A {@link Model} that speaks one wire format over a transport. Retryable failures are retried, with growing
 * delays or the one the provider asks for; an interrupted answer is requested again from the start, as a
 * `retry` part says. While a request waits because of a rate limit, others under the same limit wait too
 * before they are sent. A server that is loading its model is waited for, and content the model does not
 * accept (an image, a seal of another maker, a field) is left out.
 */
export function createWireModel(options: WireModelOptions): Model {
  assertEngine();
  const { target, transport, clock = systemClock, random = Math.random, id: modelId } = options;
  const { learned = newLearnedModel(), pause = new RatePause() } = options;
  const settings = networkSettings(options.network, target.baseUrl);
  const maker = [target.baseUrl, target.modelId, target.apiKey];
  const refusals = new Refusals(maker, options.info?.images === false);
  const estimates = new InputEstimates();
  const withMaker = (part: BlockPart): BlockPart => refusals.withMaker(part);
  const learnedTarget = (): WireTarget => ({ ...target, quirks: { ...target.quirks, ...learned.quirks } });
  let wire: Wire | undefined;
  // The encoder caches the text of messages, so it is only replaced when a quirk is learned.
  let encoder: { readonly changes: number; readonly encode: ReturnType<Wire["createEncoder"]> } | undefined;
  const setup: CallSetup<{ readonly wire: Wire; readonly request: WireRequest }> = {
    limits: settings,
    prefix: "network.",
    modelId,
    learned,
    refusals,
    estimates,
    clock,
    random,
    pause,
    encode: async (request) => {
      wire ??= typeof options.wire === "function" ? await options.wire() : options.wire;
      const { changes } = learned;
      if (encoder?.changes !== changes) encoder = { changes, encode: wire.createEncoder(learnedTarget()) };
      const bounded =
        options.fillsWindow === true
          ? limitToWindow(request, infoWithLearned(options.info, learned), estimates)
          : request;
      const encoded = encoder.encode(bounded);
      return { wire, request: { ...encoded, body: wellFormedJson(encoded.body) } };
    },
    send: (sent, onPart) => new Attempt({ ...sent, target, transport, settings, clock, withMaker, onPart }),
    adapt: (error) => {
      const quirks = wire?.learn?.(error, learnedTarget());
      const isNew = Object.entries(quirks ?? {}).some(([name, value]) => learned.quirks[name] !== value);
      if (!isNew) return undefined;
      learned.quirks = { ...learned.quirks, ...quirks };
      learned.changes += 1;
      return `The request is sent again in another way; providers.${options.provider}.quirks ${JSON.stringify(quirks)} in the configuration saves the refused attempt.`;
    },
  };
  return createCallingModel(options.provider, options.info, setup);
}

/** Answer tokens to request if the estimate leaves none: the server knows better. */
const MIN_ANSWER_TOKENS = 256;

function limitToWindow(
  request: ModelRequest,
  { contextWindow, maxOutputTokens }: ModelInfo = {},
  estimates: InputEstimates,
): ModelRequest {
  if (request.maxOutputTokens !== undefined || contextWindow === undefined) return request;
  const remaining = Math.max(contextWindow - estimates.ofRequest(request), MIN_ANSWER_TOKENS);
  return { ...request, maxOutputTokens: Math.min(remaining, maxOutputTokens ?? remaining) };
}
