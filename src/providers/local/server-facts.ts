import { defined, type Fields, isRecord } from "../../core/base/json.ts";
import type { ModelInfo } from "../../core/model/model.ts";
import { apiAddress } from "../api-address.ts";
import { providerWords, saysLoading } from "../provider-errors.ts";

/** Gets a document, with POST where there is a body. Undefined: there is none. Or {@link LOADING}. */
export type AskServer = (path: string, body?: unknown) => Promise<unknown>;

/** The answer of a server that says it loads its model, in the place of a document. */
export const LOADING: unique symbol = Symbol("loading");

/** A request to a local server. */
export type ServerFetch = (url: string, init: RequestInit) => Promise<Response>;

/** How a server is asked. */
export interface AskOptions {
  /** Address without `/v1`. */
  readonly root: string;
  readonly fetch: ServerFetch;
  /** For all its answers together. */
  readonly timeoutMs: number;
  readonly apiKey?: string | undefined;
}

/** Asks one server. Never rejects: what cannot be had, or is no JSON, is undefined. */
export function askServer({ root, fetch, timeoutMs, apiKey }: AskOptions): AskServer {
  const signal = AbortSignal.timeout(timeoutMs);
  const headers = {
    "content-type": "application/json",
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
  };
  return async (path, body) => {
    try {
      const sent = body === undefined ? { method: "GET" } : { method: "POST", body: JSON.stringify(body) };
      const answer = await fetch(`${root}${path}`, { ...sent, headers, signal });
      if (answer.ok) return await answer.json();
      // Whatever stands in front of a server that is gone answers 503 too.
      if (answer.status === 503 && saysLoading(providerWords(await answer.text()), 503)) return LOADING;
      await answer.body?.cancel();
      return undefined;
    } catch {
      return undefined;
    }
  };
}

/** The address of a server itself, from that of its compatible API. */
export function serverRoot(baseUrl: string): string {
  return apiAddress(baseUrl).baseUrl.replace(/\/v1$/, "");
}

/**
 * The facts a local server gives of one of its models: the window it is served with, whether it takes images
 * and has a way to call tools. What it does not say is absent: the window a model was trained with is none,
 * for servers cut a longer conversation in silence. Sources: the documentation of llama-server (`/v1/models`,
 * `/props`), Ollama (`/api/show`, `/api/ps`), LM Studio (`/api/v0/models`) and vLLM (`/v1/models`). Never
 * rejects.
 */
export async function readModelFacts(
  provider: string,
  id: string,
  ask: AskServer,
): Promise<ModelInfo | typeof LOADING> {
  if (provider === "ollama") return ollamaFacts(id, ask);
  const paths = ["/v1/models", provider === "lmstudio" ? "/api/v0/models" : "/props"];
  const [list, more] = await Promise.all(paths.map((path) => ask(path)));
  if (list === LOADING || more === LOADING) return LOADING;
  const rows = [...rowsIn(list, "data"), ...rowsIn(list, "models"), ...rowsIn(more, "data")];
  const named = rows.filter((row) => row["id"] === id || row["name"] === id || row["model"] === id);
  // A server with a single model answers to any name.
  const told = named.length > 0 ? named : provider === "llamacpp" ? rows : [];
  const props = isRecord(more) && provider !== "lmstudio" ? [more] : [];
  return merged([...told, ...props].map(factsOf));
}

async function ollamaFacts(id: string, ask: AskServer): Promise<ModelInfo> {
  const [shown, running] = await Promise.all([ask("/api/show", { model: id }), ask("/api/ps")]);
  const loaded = rowsIn(running, "models").filter(({ name, model }) => name === id || model === id);
  const settings = isRecord(shown) && typeof shown["parameters"] === "string" ? shown["parameters"] : "";
  const set = /^num_ctx\s+(\d+)$/m.exec(settings)?.[1];
  return merged([
    ...loaded.map(factsOf),
    ...(set === undefined ? [] : [{ contextWindow: Number(set) }]),
    ...capabilitiesOf(shown),
  ]);
}

/** Ollama's list is complete: it refuses tools for a model whose template has no place for them. */
function capabilitiesOf(shown: unknown): readonly ModelInfo[] {
  const capabilities = isRecord(shown) ? shown["capabilities"] : undefined;
  if (!Array.isArray(capabilities)) return [];
  return [{ images: capabilities.includes("vision"), tools: capabilities.includes("tools") }];
}

/** Ids of models in a list, in its order; undefined when it is none. */
export function idsIn(
  answer: unknown,
  list: "data" | "models",
  key: "id" | "name",
): readonly string[] | undefined {
  if (!isRecord(answer) || !Array.isArray(answer[list])) return undefined;
  const rows = answer[list];
  return rows.every(isRecord)
    ? rows.map((row) => row[key]).filter((id) => typeof id === "string")
    : undefined;
}

/** Ids in LM Studio's own list, loaded models first, embedding models left out. */
export function lmStudioIds(answer: unknown): readonly string[] | undefined {
  const rows = rowsIn(answer, "data").filter(({ type }) => type !== "embeddings");
  if (rows.length === 0 || !rows.every(({ state }) => typeof state === "string")) return undefined;
  const [loaded, others] = [rows.filter(isLoaded), rows.filter((row) => !isLoaded(row))];
  return [...loaded, ...others].map(({ id }) => id).filter((id) => typeof id === "string");
}

function isLoaded({ state }: Fields): boolean {
  return state === "loaded";
}

function rowsIn(answer: unknown, list: string): readonly Fields[] {
  const rows = isRecord(answer) ? answer[list] : undefined;
  return Array.isArray(rows) ? rows.filter(isRecord) : [];
}

/** The first that says something decides, fact by fact. */
function merged(infos: readonly ModelInfo[]): ModelInfo {
  return Object.assign({}, ...infos.toReversed());
}

function factsOf(row: Fields): ModelInfo {
  return defined({ contextWindow: windowOf(row), images: imagesOf(row), tools: toolsOf(row) });
}

/** llama-server; vLLM and SGLang; LM Studio and Ollama as loaded; gateways. */
function windowOf(row: Fields): number | undefined {
  const meta = record(row["meta"]);
  const settings = record(row["default_generation_settings"]);
  const figures = [
    meta["n_ctx"],
    settings["n_ctx"],
    row["n_ctx"],
    row["max_model_len"],
    row["loaded_context_length"],
    row["context_length"],
    row["context_window"],
  ];
  return figures.find((value): value is number => Number.isSafeInteger(value) && Number(value) > 0);
}

function imagesOf(row: Fields): boolean | undefined {
  const { modalities, capabilities } = row;
  const inputs = record(row["architecture"])["input_modalities"] ?? row["input_modalities"] ?? modalities;
  if (Array.isArray(inputs)) return inputs.some((each) => each === "image" || each === "vision");
  const stated = record(inputs)["vision"] ?? record(capabilities)["vision"];
  if (typeof stated === "boolean") return stated;
  if (row["type"] === "vlm" || row["type"] === "llm") return row["type"] === "vlm";
  if (!Array.isArray(capabilities) || !capabilities.includes("completion")) return undefined;
  return capabilities.includes("vision") || capabilities.includes("multimodal");
}

function toolsOf(row: Fields): boolean | undefined {
  const caps = record(row["chat_template_caps"]);
  const stated = caps["supports_tools"] ?? caps["supports_tool_calls"];
  if (typeof stated === "boolean") return stated;
  const template = row["chat_template"];
  return typeof template === "string" && template !== "" ? /\btools?\b/.test(template) : undefined;
}

function record(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
