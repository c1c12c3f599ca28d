import type { Model, ModelCallOptions, ModelRequest, StreamPart } from "../core/model/model.ts";
import { findPreset } from "./catalog.ts";
import { knownModelInfo, parseModelName } from "./model-info.ts";

/**
 * The model for a name such as `anthropic/claude-sonnet-5`, with credentials and network settings from the
 * environment. The name is checked now (`invalid_argument`, `unknown_provider`); the first request loads the
 * provider's code and reads the environment, and fails with `missing_credentials` if there is no key.
 */
export function namedModel(name: string): Model {
  const { provider: givenProvider, id } = parseModelName(name);
  const provider = findPreset(givenProvider).name;
  const known = knownModelInfo(provider, id);
  let model: Model | undefined;
  let loading: Promise<Model> | undefined;
  const load = async (): Promise<Model> => {
    try {
      // The library does not read the environment until a named model is used.
      const { loadNamedModel } = await import("./load-named-model.ts");
      model = await loadNamedModel(name);
      return model;
    } finally {
      // A key may be set later: the next request tries again.
      loading = undefined;
    }
  };
  async function* streamLate(request: ModelRequest, options?: ModelCallOptions): AsyncGenerator<StreamPart> {
    loading ??= load();
    yield* (await loading).stream(request, options);
  }
  return {
    provider,
    id,
    /** The known facts; for a local model also its server's, once the first request has asked it. */
    get info() {
      return model?.info ?? known;
    },
    stream: (request, options) =>
      model === undefined ? streamLate(request, options) : model.stream(request, options),
  };
}
