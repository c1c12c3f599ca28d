import type { Clock } from "../../../core/base/clock.ts";
import type { Model, ModelCallOptions, ModelRequest, StreamPart } from "../../../core/model/model.ts";

/**
 * A model whose answers come no faster than a person reads: a pause of `delayMs` before each piece of text or
 * reasoning.
 */
export class PacedModel implements Model {
  readonly provider: string;
  readonly id: string;
  readonly #model: Model;
  readonly #pace: { readonly clock: Clock; readonly delayMs: number };

  constructor(model: Model, pace: { readonly clock: Clock; readonly delayMs: number }) {
    this.provider = model.provider;
    this.id = model.id;
    this.#model = model;
    this.#pace = pace;
  }

  async *stream(
    request: ModelRequest,
    options: ModelCallOptions = {},
  ): AsyncGenerator<StreamPart, void, undefined> {
    const { clock, delayMs } = this.#pace;
    for await (const part of this.#model.stream(request, options)) {
      if (part.type === "text_delta" || part.type === "thinking_delta")
        await clock.sleep(delayMs, options.signal);
      yield part;
    }
  }
}
