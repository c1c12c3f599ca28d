import { type Clock, systemClock } from "../../core/base/async.ts";
import { misuse } from "../../core/base/errors.ts";
import { defined, type Fields, isRecord } from "../../core/base/json.ts";
import type { ModelInfo } from "../../core/model/model.ts";
import { variable } from "../../system/env.ts";
import {
  type AddressOptions,
  apiAddress,
  type FoundModel,
  findPreset,
  type ModelSearch,
  presetNamed,
  providerAddress,
  standardVariables,
} from "../catalog.ts";
import { parseModelName } from "../model-name.ts";
import { providerWords, saysLoading } from "../provider-errors.ts";

export interface LocalServerOptions extends AddressOptions, Pick<ModelSearch, "waits"> {
  readonly onNotice?: ((message: string) => void) | undefined;
  readonly fetch?: ServerFetch;
  readonly clock?: Clock;
}

/**
 * Milliseconds a server gets to say what it is, and what its model is like. Where none listens nobody waits;
 * a machine that is busy with its model may need the time.
 */
const ANSWER_MS = 2_000;
/** Between two looks at a server that loads its model, and how long that may take. */
const LOADING_STEP_MS = 1_000;
const MAX_LOADING_MS = 1_800_000;

/** The local servers that answer: at their configured address, that of their variable, or their port. */
export function findLocalServers(options: LocalServerOptions): Promise<readonly LocalServer[]> {
  const baseUrls = Object.fromEntries(
    Object.keys(LOCAL_BASE_URLS).map((name) => [name, providerAddress(name, options)]),
  );
  const { fetch } = options;
  return probeLocalServers({ baseUrls, timeoutMs: ANSWER_MS, ...defined({ fetch }) });
}

/**
 * The first model of the first local server that has one, else the first server that is loading its own;
 * undefined without. With `baseUrl` only that server counts.
 */
export async function firstLocalModel(
  options: LocalServerOptions & ModelSearch,
): Promise<FoundModel | undefined> {
  return untilLoaded(options, async (): Promise<Look<FoundModel | undefined>> => {
    const all = await findLocalServers(options);
    const servers = all.filter(({ baseUrl }) => baseUrl === (options.baseUrl ?? baseUrl));
    const server = servers.find(({ models }) => models.length > 0);
    if (server !== undefined)
      return {
        found: { name: `${server.provider}/${server.models[0] ?? ""}`, baseUrl: server.baseUrl },
      };
    const loading = servers.find(({ isLoading }) => isLoading === true);
    if (loading === undefined) return { found: undefined };
    const { provider: name, baseUrl } = loading;
    return { found: { name, baseUrl, isLoading: true }, loadingAt: baseUrl };
  });
}

/** The only model of a local server. Throws `invalid_argument` for several, or without an answer. */
export async function onlyModelOf(provider: string, options: LocalServerOptions): Promise<string> {
  const server = (await findLocalServers(options)).find((each) => each.provider === provider);
  const models = server?.models ?? [];
  if (models.length === 1) return `${provider}/${models[0] ?? ""}`;
  const what =
    server === undefined
      ? `No ${provider} server answers. Start it, or set ${baseUrlVariable(provider)} to its address`
      : models.length === 0
        ? `${provider} at ${server.baseUrl} has no model${server.isLoading === true ? " yet: it is loading" : ""}. Try again when it has`
        : `${provider} at ${server.baseUrl} has ${models.length} models (${models.join(", ")}). Name one: ${provider}/ID`;
  throw misuse(`${what}.`);
}

/** The facts a local model's server tells; none where it does not answer, or is not waited for. */
export async function localModelFacts(name: string, options: LocalServerOptions): Promise<ModelInfo> {
  const { provider, id } = parseModelName(name);
  const preset = presetNamed(provider.toLowerCase());
  const own = options.config.providers?.[provider];
  const baseUrl = providerAddress(provider, options) ?? "";
  const keyVariables = own?.apiKeyEnv ?? preset?.keyVariables ?? standardVariables(provider).key;
  const apiKey = [keyVariables]
    .flat()
    .map((each) => variable(options.environment, each))
    .find(Boolean);
  const { fetch = globalThis.fetch } = options;
  return untilLoaded(options, async () => {
    const ask = askServer({ root: serverRoot(baseUrl), fetch, timeoutMs: ANSWER_MS, apiKey });
    const read = await readModelFacts(preset?.name ?? provider, id, ask);
    return read === LOADING ? { found: {}, loadingAt: baseUrl } : { found: read };
  });
}

interface Look<T> {
  readonly found: T;
  readonly loadingAt?: string;
}

/** Where that is wanted, looks again while a server loads its model, and says once that it does. */
async function untilLoaded<T>(
  { waits = false, onNotice, clock = systemClock }: LocalServerOptions,
  look: () => Promise<Look<T>>,
): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += LOADING_STEP_MS) {
    const { found, loadingAt } = await look();
    if (loadingAt === undefined || !waits || waitedMs >= MAX_LOADING_MS) return found;
    if (waitedMs === 0) onNotice?.(`The server at ${loadingAt} is loading its model. Waiting for it.`);
    await clock.sleep(LOADING_STEP_MS);
  }
}

function baseUrlVariable(provider: string): string {
  return findPreset(provider).baseUrlVariables[0] ?? "its base URL";
}

/** Local servers that are looked for, in order of preference. */
export type LocalProvider = "ollama" | "lmstudio" | "llamacpp" | "vllm";

/** A local server that answered. */
export interface LocalServer {
  readonly provider: LocalProvider;
  /** Base URL of its OpenAI-compatible API, e.g. `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** Ids of its models; those already loaded come first. Empty when none is installed. */
  readonly models: readonly string[];
  /** True while it loads its model, and does not say which. */
  readonly isLoading?: boolean;
}

/** Where and how to look. */
export interface ProbeLocalOptions {
  /** Default: the global `fetch`. */
  readonly fetch?: ServerFetch;
  /** Time for each server, in milliseconds. Default 300. */
  readonly timeoutMs?: number;
  /** Addresses to try. Default: each server's port on 127.0.0.1. An absent provider is not looked for. */
  readonly baseUrls?: { readonly [P in LocalProvider]?: string };
}

/** Where each server listens unless it was told otherwise. */
export const LOCAL_BASE_URLS: { readonly [P in LocalProvider]: string } = {
  ollama: "http://127.0.0.1:11434",
  lmstudio: "http://127.0.0.1:1234",
  llamacpp: "http://127.0.0.1:8080",
  vllm: "http://127.0.0.1:8000",
};

/**
 * Asks all local model servers at once which models they have. Servers that do not answer in time, or answer
 * something else (another program on that port), are left out. Never rejects; reads no environment.
 */
export async function probeLocalServers(options: ProbeLocalOptions = {}): Promise<readonly LocalServer[]> {
  const { baseUrls = LOCAL_BASE_URLS, timeoutMs = 300, fetch = globalThis.fetch } = options;
  const found = await Promise.all(
    PROVIDERS.map(async (provider): Promise<readonly LocalServer[]> => {
      const given = baseUrls[provider];
      if (given === undefined) return [];
      const root = serverRoot(given);
      const models = await MODELS_OF[provider](askServer({ root, fetch, timeoutMs }));
      if (models === undefined) return [];
      const isLoading = models === LOADING;
      return [
        {
          provider,
          baseUrl: `${root}/v1`,
          models: isLoading ? [] : models,
          ...(isLoading ? { isLoading } : {}),
        },
      ];
    }),
  );
  return found.flat();
}

const PROVIDERS: readonly LocalProvider[] = ["ollama", "lmstudio", "llamacpp", "vllm"];

/** Model ids of a server, loaded ones first; `undefined` when it is not that server. */
const MODELS_OF: {
  readonly [P in LocalProvider]: (ask: AskServer) => Promise<readonly string[] | typeof LOADING | undefined>;
} = {
  ollama: async (ask) => {
    const [installed, loaded, compatible] = await Promise.all([
      ask("/api/tags"),
      ask("/api/ps"),
      ask("/v1/models"),
    ]);
    // A gateway in its place may have the compatible API only.
    const all = idsIn(installed, "models", "name") ?? idsIn(compatible, "data", "id");
    if (all === undefined) return undefined;
    const first = idsIn(loaded, "models", "name") ?? [];
    return [...new Set([...first.filter((id) => all.includes(id)), ...all])];
  },
  lmstudio: async (ask) => {
    const [own, compatible] = await Promise.all([ask("/api/v0/models"), ask("/v1/models")]);
    return lmStudioIds(own) ?? idsIn(compatible, "data", "id");
  },
  llamacpp: async (ask) => {
    const list = await ask("/v1/models");
    return list === LOADING ? LOADING : idsIn(list, "data", "id");
  },
  vllm: async (ask) => idsIn(await ask("/v1/models"), "data", "id"),
};

/** Gets a document, with POST where there is a body. Undefined: there is none. Or {@link LOADING}. */
export type AskServer = (path: string, body?: unknown) => Promise<unknown>;

/** The answer of a server that says it loads its model, in the place of a document. */
export const LOADING: unique symbol = Symbol("loading");

/** A request to a local server. */
export type ServerFetch = (url: string, init: RequestInit) => Promise<Response>;

/** How a server is asked. */
interface AskOptions {
  /** Address without `/v1`. */
  readonly root: string;
  readonly fetch: ServerFetch;
  /** For all its answers together. */
  readonly timeoutMs: number;
  readonly apiKey?: string | undefined;
}

/** Asks one server. Never rejects: what cannot be had, or is no JSON, is undefined. */
function askServer({ root, fetch, timeoutMs, apiKey }: AskOptions): AskServer {
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
function serverRoot(baseUrl: string): string {
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
function lmStudioIds(answer: unknown): readonly string[] | undefined {
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
