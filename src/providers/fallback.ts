import {
  type ErrorCode,
  invalidArgument,
  type NanoAgentError,
  toNanoAgentError,
} from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { FinishPart, Model, StreamPart } from "../core/model/model.ts";

/** Options of {@link fallbackModel}. */
export interface FallbackOptions {
  /** Returns true to try the next model; not called after an abort. Default {@link isFallbackError}. */
  readonly when?: (error: NanoAgentError) => boolean;
  /**
   * True: later requests start with the model that answered last. False (default): every request starts with
   * the first. Applies per returned model, across all its requests.
   */
  readonly sticky?: boolean;
}

/** Errors that another model may not have, besides all retryable ones. */
const FALLBACK_CODES: readonly ErrorCode[] = [
  "missing_credentials",
  "authentication",
  "unknown_model",
  "rate_limit",
  "provider_error",
  "network",
  "timeout",
  "invalid_response",
];

/**
 * True if another model may succeed after `error` ended one for good: everything retryable, missing or
 * refused credentials, an unknown model, rate limit, provider error, network, timeout, invalid response.
 * False for an abort, a refused request, one that is too long (another model may have a larger window: opt in
 * with `when`), and defects.
 */
export function isFallbackError(error: NanoAgentError): boolean {
  return error.code !== "aborted" && (error.retryable || FALLBACK_CODES.includes(error.code));
}

/**
 * A model that tries `models` in order: when one fails for good, the next takes over. Parts streamed until
 * then are void, as a `retry` part says; its `attempt` counts across all models. The last model's error is
 * thrown. `provider`, `id` and `info` are the first model's, the others are its `alternatives`;
 * `finish.answeredBy` names the alternative that answered. Throws `invalid_argument` for an empty list.
 */
export function fallbackModel(models: readonly Model[], options: FallbackOptions = {}): Model {
  const [first] = models;
  if (first === undefined) {
    throw invalidArgument("fallbackModel got an empty list of models. Pass at least one.");
  }
  return createFallback([first, ...models.slice(1)], options, { preferred: 0 });
}

/** `memory`: the model with which later requests start. */
function createFallback(
  models: readonly [Model, ...Model[]],
  options: FallbackOptions,
  memory: { preferred: number },
): Model {
  const { when = isFallbackError, sticky = false } = options;
  const [first, ...alternatives] = models;
  return {
    provider: first.provider,
    id: first.id,
    get info() {
      return first.info;
    },
    alternatives,
    withEach: (wrap) => createFallback([wrap(first), ...alternatives.map(wrap)], options, memory),
    async *stream(request, callOptions = {}): AsyncGenerator<StreamPart> {
      const start = sticky ? memory.preferred : 0;
      let attempt = 1;
      for (let tried = 0; ; tried++) {
        const index = (start + tried) % models.length;
        const model = models[index] as Model;
        try {
          for await (const part of model.stream(request, callOptions)) {
            if (part.type === "retry") yield { ...part, attempt: ++attempt };
            else if (part.type === "finish" && index > 0) yield { answeredBy: factsOf(model), ...part };
            else yield part;
          }
          memory.preferred = index;
          return;
        } catch (thrown) {
          const error = toNanoAgentError(thrown);
          const isLast = tried === models.length - 1;
          const isAborted = callOptions.signal?.aborted === true || error.code === "aborted";
          if (isLast || isAborted || !when(error)) throw error;
          yield { type: "retry", attempt: ++attempt, delayMs: 0, error };
        }
      }
    },
  };
}

function factsOf({ provider, id, info }: Model): NonNullable<FinishPart["answeredBy"]> {
  return { provider, id, ...omitUndefined({ info }) };
}
