import {
  type ErrorCode,
  isNanoAgentError,
  misuse,
  type NanoAgentError,
  toNanoAgentError,
} from "../core/base/errors.ts";
import { defined } from "../core/base/json.ts";
import type { FinishPart, Model, ModelCallOptions, ModelRequest, StreamPart } from "../core/model/model.ts";

/** How {@link fallbackModel} chooses. */
export interface FallbackOptions {
  /** True to try the next model; not asked after an abort. Default {@link isFallbackError}. */
  readonly when?: (error: NanoAgentError) => boolean;
  /**
   * True: later requests begin with the model that answered last. False (default): every request begins with
   * the first. Sticky is per returned model, across all its requests.
   */
  readonly sticky?: boolean;
}

/** Errors that another model may not have, beside all retryable ones. */
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
 * True when another model may succeed where `error` ended one for good: everything retryable, missing or
 * refused credentials, an unknown model, rate limit, provider error, network, timeout, invalid response. Not
 * an abort, a refused request or one that is too long (another model may have a larger window: ask for it
 * with `when`), nor defects.
 */
export function isFallbackError(error: NanoAgentError): boolean {
  return error.code !== "aborted" && (error.retryable || FALLBACK_CODES.includes(error.code));
}

/**
 * A model that tries `models` in order: when one fails for good, the next takes over. What was streamed until
 * then is void, which a `retry` part says; its `attempt` counts on over all models. The last model's error is
 * thrown. `provider`, `id` and `info` are those of the first model, the others its `alternatives`;
 * `finish.answeredBy` says which of those answered. Throws `invalid_argument` for an empty list.
 */
export function fallbackModel(models: readonly Model[], options: FallbackOptions = {}): Model {
  const [first] = models;
  if (first === undefined) {
    throw misuse("fallbackModel got an empty list of models. Pass at least one.");
  }
  return new FallbackModel([first, ...models.slice(1)], options, { preferred: 0 });
}

/** The model that later requests begin with. */
interface Preference {
  preferred: number;
}

class FallbackModel implements Model {
  readonly provider: string;
  readonly id: string;
  readonly alternatives: readonly Model[];
  readonly #models: readonly [Model, ...Model[]];
  readonly #options: Required<FallbackOptions>;
  readonly #preference: Preference;

  constructor(models: readonly [Model, ...Model[]], options: FallbackOptions, preference: Preference) {
    const [first, ...others] = models;
    this.provider = first.provider;
    this.id = first.id;
    this.#models = models;
    this.alternatives = others;
    this.#options = { when: options.when ?? isFallbackError, sticky: options.sticky ?? false };
    this.#preference = preference;
  }

  get info(): Model["info"] {
    return this.#models[0].info;
  }

  withEach(wrap: (model: Model) => Model): Model {
    const [first, ...others] = this.#models;
    return new FallbackModel([wrap(first), ...others.map(wrap)], this.#options, this.#preference);
  }

  async *stream(request: ModelRequest, options: ModelCallOptions = {}): AsyncGenerator<StreamPart> {
    const { when, sticky } = this.#options;
    const start = sticky ? this.#preference.preferred : 0;
    let attempt = 1;
    for (let tried = 0; ; tried++) {
      const index = (start + tried) % this.#models.length;
      const model = this.#models[index] as Model;
      try {
        for await (const part of model.stream(request, options)) {
          if (part.type === "retry") yield { ...part, attempt: ++attempt };
          else if (part.type === "finish" && index > 0) yield { answeredBy: factsOf(model), ...part };
          else yield part;
        }
        if (sticky) this.#preference.preferred = index;
        return;
      } catch (thrown) {
        const error = toNanoAgentError(thrown);
        const isLast = tried === this.#models.length - 1;
        if (isLast || options.signal?.aborted === true || isNanoAgentError(error, "aborted") || !when(error))
          throw error;
        yield { type: "retry", attempt: ++attempt, delayMs: 0, error };
      }
    }
  }
}

function factsOf({ provider, id, info }: Model): NonNullable<FinishPart["answeredBy"]> {
  return { provider, id, ...defined({ info }) };
}
