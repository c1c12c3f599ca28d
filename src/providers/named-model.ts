import type { Model, ModelCallOptions, ModelInfo, ModelRequest, StreamPart } from "../core/model/model.ts";
import { findPreset } from "./catalog.ts";
import { knownModelInfo } from "./model-info.ts";
import { parseModelName } from "./model-name.ts";

/**
 * The model of a name such as `anthropic/claude-sonnet-5`, with credentials and network settings from the
 * environment. The name is checked now (`invalid_argument`, `unknown_provider`); the code that speaks to the
 * provider is loaded, and the environment read, with the first request, which fails with
 * `missing_credentials` where there is no key.
 */
export function namedModel(name: string): Model {
  return new NamedModel(name);
}

class NamedModel implements Model {
  readonly provider: string;
  readonly id: string;
  readonly #known: ModelInfo | undefined;
  readonly #name: string;
  #loading: Promise<Model> | undefined;
  #model: Model | undefined;

  constructor(name: string) {
    const { provider, id } = parseModelName(name);
    this.provider = findPreset(provider).name;
    this.id = id;
    this.#known = knownModelInfo(this.provider, id);
    this.#name = name;
  }

  /** The known facts about the model; of a local one more once its server was asked, by the first request. */
  get info(): ModelInfo | undefined {
    return this.#model?.info ?? this.#known;
  }

  stream(request: ModelRequest, options?: ModelCallOptions): AsyncIterable<StreamPart> {
    return this.#model === undefined ? this.#late(request, options) : this.#model.stream(request, options);
  }

  async *#late(request: ModelRequest, options: ModelCallOptions | undefined): AsyncGenerator<StreamPart> {
    yield* (await this.#load()).stream(request, options);
  }

  #load(): Promise<Model> {
    this.#loading ??= loadModel(this.#name).then(
      (model) => {
        this.#model = model;
        return model;
      },
      (error: unknown) => {
        // A key may be set later: the next request looks again.
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }
}

async function loadModel(name: string): Promise<Model> {
  // Reading the environment is no part of the library until a name is asked.
  const { loadNamedModel } = await import("./load-named-model.ts");
  return loadNamedModel(name);
}
