import { modelWith } from "../../core/model/answer.ts";
import type { Model, ModelCallOptions, ModelRequest, StreamPart } from "../../core/model/model.ts";

/** Milliseconds after which a first request is on its way, however slow the connection is. */
const ON_ITS_WAY_MS = 200;

/**
 * The same model, which calls `start` beside its first request: once that has been sent and is being
 * answered, or is surely on its way. What `start` does can then not hold it up. `cancel` forgets it.
 */
export function besideFirstRequest(
  model: Model,
  start: () => void,
): { readonly model: Model; readonly cancel: () => void } {
  let state: "open" | "sent" | "done" = "open";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const finish = (): void => {
    clearTimeout(timer);
    state = "done";
  };
  const begin = (): void => {
    if (state === "done") return;
    finish();
    start();
  };
  async function* first(request: ModelRequest, options: ModelCallOptions): AsyncGenerator<StreamPart> {
    for await (const part of model.stream(request, options)) {
      begin();
      yield part;
    }
  }
  return {
    model: modelWith(model, (request, options = {}) => {
      if (state !== "open") return model.stream(request, options);
      state = "sent";
      timer = setTimeout(begin, ON_ITS_WAY_MS);
      return first(request, options);
    }),
    cancel: finish,
  };
}
