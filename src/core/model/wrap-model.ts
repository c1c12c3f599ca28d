import type { Model } from "./model.ts";

/** A model that is `model` in everything but how it is asked. */
export function modelWith(model: Model, stream: Model["stream"]): Model {
  const { provider, id } = model;
  return {
    provider,
    id,
    get info() {
      return model.info;
    },
    get alternatives() {
      return model.alternatives ?? [];
    },
    stream,
  };
}

/** The same model, read on only when what `room` gave for the part before is settled. */
export function atPace(model: Model, room: () => Promise<void> | undefined): Model {
  return modelWith(model, async function* (request, options) {
    for await (const part of model.stream(request, options)) {
      yield part;
      const waiting = room();
      if (waiting !== undefined) await waiting;
    }
  });
}
