import { type Clock, systemClock } from "../../core/base/async.ts";
import { invalidArgument } from "../../core/base/errors.ts";
import { type Fields, isRecord, omitUndefined } from "../../core/base/json.ts";
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
import { parseModelName } from "../model-info.ts";
import { isModelLoading, parseErrorBody } from "../provider-errors.ts";

export type LocalProvider = "ollama" | "lmstudio" | "llamacpp" | "vllm";

/** Default address of each server, in order of preference. */
export const LOCAL_BASE_URLS: { readonly [P in LocalProvider]: string } = {
  ollama: "http://127.0.0.1:11434",
  lmstudio: "http://127.0.0.1:1234",
  llamacpp: "http://127.0.0.1:8080",
  vllm: "http://127.0.0.1:8000",
};
const PROVIDERS = Object.keys(LOCAL_BASE_URLS) as readonly LocalProvider[];

/** A local server that answered. */
export interface LocalServer {
  readonly provider: LocalProvider;
  /** Base URL of its OpenAI-compatible API, e.g. `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** Ids of its models, loaded ones first. Empty if none is installed. */
  readonly models: readonly string[];
  /** True while it is loading its model, without saying which. */
  readonly isLoading?: boolean;
}

/** Options of {@link probeLocalServers}. */
export interface ProbeLocalOptions {
  /** Default: the global `fetch`. */
  readonly fetch?: ServerFetch;
  /** Milliseconds allowed per server. Default 300. */
  readonly timeoutMs?: number;
  /** Addresses to try. Default: each server's port on 127.0.0.1. Absent providers are skipped. */
  readonly baseUrls?: { readonly [P in LocalProvider]?: string };
}

export type ServerFetch = (url: string, init: RequestInit) => Promise<Response>;

export interface LocalServerOptions extends AddressOptions, Pick<ModelSearch, "waits"> {
  readonly onNotice?: ((message: string) => void) | undefined;
  readonly fetch?: ServerFetch;
  readonly clock?: Clock;
}

/** Milliseconds for a server to describe itself and its model: one that is busy may need the time. */
const ANSWER_MS = 2_000;
/** Delay between two checks of a server that is loading its model, and the maximum wait. */
const LOADING_STEP_MS = 1_000;
const MAX_LOADING_MS = 1_800_000;

/** The local servers that answer: at the configured address, the one in their variable, or their port. */
export function findLocalServers(options: LocalServerOptions): Promise<readonly LocalServer[]> {
  const baseUrls = Object.fromEntries(PROVIDERS.map((name) => [name, providerAddress(name, options)]));
  return probeLocalServers({ baseUrls, timeoutMs: ANSWER_MS, ...omitUndefined({ fetch: options.fetch }) });
}

/**
 * The first model of the first local server that has one, else the first server that is loading one, else
 * undefined. With `baseUrl`, only that server is considered.
 */
export async function firstLocalModel(
  options: LocalServerOptions & ModelSearch,
): Promise<FoundModel | undefined> {
  return waitUntilLoaded(options, async (): Promise<Probe<FoundModel | undefined>> => {
    const all = await findLocalServers(options);
    const servers = all.filter(({ baseUrl }) => baseUrl === (options.baseUrl ?? baseUrl));
    const server = servers.find(({ models }) => models.length > 0);
    if (server !== undefined)
      return { found: { name: `${server.provider}/${server.models[0] ?? ""}`, baseUrl: server.baseUrl } };
    const loading = servers.find(({ isLoading }) => isLoading === true);
    if (loading === undefined) return { found: undefined };
    const { provider: name, baseUrl } = loading;
    return { found: { name, baseUrl, isLoading: true }, loadingAt: baseUrl };
  });
}

/** The only model of a local server. Throws `invalid_argument` if it has several, or does not answer. */
export async function requireOnlyModel(provider: string, options: LocalServerOptions): Promise<string> {
  const server = (await findLocalServers(options)).find((each) => each.provider === provider);
  const { models = [], baseUrl = "", isLoading = false } = server ?? {};
  if (models.length === 1) return `${provider}/${models[0] ?? ""}`;
  if (server === undefined) {
    const [name = "its base URL"] = findPreset(provider).baseUrlVariables;
    throw invalidArgument(`No ${provider} server answers. Start it, or set ${name} to its address.`);
  }
  throw invalidArgument(
    models.length === 0
      ? `${provider} at ${baseUrl} has no model${isLoading ? " yet: it is loading" : ""}. Try again when it has.`
      : `${provider} at ${baseUrl} has ${models.length} models (${models.join(", ")}). Name one: ${provider}/ID.`,
  );
}

/** The facts a local model's server reports; empty if it does not answer, or is not waited for. */
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
  return waitUntilLoaded(options, async () => {
    const ask = askServer(baseUrl, ANSWER_MS, options.fetch, apiKey);
    const read = await readModelFacts(preset?.name ?? provider, id, ask);
    return read === LOADING ? { found: {}, loadingAt: baseUrl } : { found: read };
  });
}

interface Probe<T> {
  readonly found: T;
  readonly loadingAt?: string;
}

/** If requested, keeps checking while a server loads its model, and announces it once. */
async function waitUntilLoaded<T>(
  { waits = false, onNotice, clock = systemClock }: LocalServerOptions,
  probe: () => Promise<Probe<T>>,
): Promise<T> {
  for (let waitedMs = 0; ; waitedMs += LOADING_STEP_MS) {
    const { found, loadingAt } = await probe();
    if (loadingAt === undefined || !waits || waitedMs >= MAX_LOADING_MS) return found;
    if (waitedMs === 0) onNotice?.(`The server at ${loadingAt} is loading its model. Waiting for it.`);
    await clock.sleep(LOADING_STEP_MS);
  }
}

/**
 * Asks all local model servers in parallel for their models. Servers that do not answer in time, or are
 * something else (another program on that port), are left out. Never rejects; does not read the environment.
 */
export async function probeLocalServers(options: ProbeLocalOptions = {}): Promise<readonly LocalServer[]> {
  const { baseUrls = LOCAL_BASE_URLS, timeoutMs = 300 } = options;
  const found = await Promise.all(
    PROVIDERS.map(async (provider): Promise<readonly LocalServer[]> => {
      const given = baseUrls[provider];
      if (given === undefined) return [];
      const models = await modelsOf(provider, askServer(given, timeoutMs, options.fetch));
      if (models === undefined) return [];
      const server = { provider, baseUrl: `${serverRoot(given)}/v1` };
      return [models === LOADING ? { ...server, models: [], isLoading: true } : { ...server, models }];
    }),
  );
  return found.flat();
}

/** The root address of a server, from the address of its compatible API. */
function serverRoot(baseUrl: string): string {
  return apiAddress(baseUrl).baseUrl.replace(/\/v1$/, "");
}

/** Fetches a document, with POST if there is a body. Undefined if there is none, or {@link LOADING}. */
export type QueryServer = (path: string, body?: unknown) => Promise<unknown>;

/** Returned instead of a document if the server says that it is loading its model. */
export const LOADING: unique symbol = Symbol("loading");

/**
 * Queries one server, with `timeoutMs` for all its answers together. Never rejects: unavailable documents and
 * those that are not JSON are undefined.
 */
function askServer(
  baseUrl: string,
  timeoutMs: number,
  fetch: ServerFetch = globalThis.fetch,
  apiKey?: string,
): QueryServer {
  const root = serverRoot(baseUrl);
  const signal = AbortSignal.timeout(timeoutMs);
  const authorization = apiKey === undefined ? undefined : `Bearer ${apiKey}`;
  const headers = { "content-type": "application/json", ...omitUndefined({ authorization }) };
  return async (path, body) => {
    try {
      const sent = body === undefined ? { method: "GET" } : { method: "POST", body: JSON.stringify(body) };
      const answer = await fetch(`${root}${path}`, { ...sent, headers, signal });
      if (answer.ok) return await answer.json();
      // A proxy in front of a stopped server also answers 503.
      if (answer.status === 503 && isModelLoading(parseErrorBody(await answer.text()), 503)) return LOADING;
      await answer.body?.cancel();
      return undefined;
    } catch {
      return undefined;
    }
  };
}

/** Model ids of a server, loaded ones first; `undefined` if it is not that server. */
async function modelsOf(
  provider: LocalProvider,
  ask: QueryServer,
): Promise<readonly string[] | typeof LOADING | undefined> {
  const ownPath = { ollama: "/api/tags", lmstudio: "/api/v0/models", llamacpp: undefined, vllm: undefined }[
    provider
  ];
  const [compatible, listed, running] = await Promise.all([
    ask("/v1/models"),
    ownPath === undefined ? undefined : ask(ownPath),
    provider === "ollama" ? ask("/api/ps") : undefined,
  ]);
  if (provider === "llamacpp" && compatible === LOADING) return LOADING;
  // A gateway at its address may only have the compatible API.
  const ids = idsIn(compatible, "data", "id");
  if (provider !== "ollama") return lmStudioIds(listed) ?? ids;
  const all = idsIn(listed, "models", "name") ?? ids;
  const first = idsIn(running, "models", "name")?.filter((id) => all?.includes(id)) ?? [];
  return all && [...new Set([...first, ...all])];
}

/** Ids of models in a list, in its order; undefined if it is not one. */
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

/** Ids in LM Studio's own list, loaded models first, without embedding models. */
function lmStudioIds(answer: unknown): readonly string[] | undefined {
  const rows = rowsIn(answer, "data").filter(({ type }) => type !== "embeddings");
  if (rows.length === 0 || !rows.every(({ state }) => typeof state === "string")) return undefined;
  const isLater = ({ state }: Fields): number => Number(state !== "loaded");
  return rows
    .toSorted((left, right) => isLater(left) - isLater(right))
    .map(({ id }) => id)
    .filter((id) => typeof id === "string");
}

function rowsIn(answer: unknown, list: string): readonly Fields[] {
  const rows = isRecord(answer) ? answer[list] : undefined;
  return Array.isArray(rows) ? rows.filter(isRecord) : [];
}

/**
 * The facts a local server reports about a model: its serving window, and whether it accepts images and can
 * call tools. Unreported facts are absent; the training window does not count, because servers silently
 * truncate a longer conversation. Sources: the documentation of llama-server (`/v1/models`, `/props`), Ollama
 * (`/api/show`, `/api/ps`), LM Studio (`/api/v0/models`) and vLLM (`/v1/models`). Never rejects.
 */
export async function readModelFacts(
  provider: string,
  id: string,
  ask: QueryServer,
): Promise<ModelInfo | typeof LOADING> {
  if (provider === "ollama") return ollamaFacts(id, ask);
  const paths = ["/v1/models", provider === "lmstudio" ? "/api/v0/models" : "/props"];
  const [list, more] = await Promise.all(paths.map((path) => ask(path)));
  if (list === LOADING || more === LOADING) return LOADING;
  const rows = [...rowsIn(list, "data"), ...rowsIn(list, "models"), ...rowsIn(more, "data")];
  const named = rows.filter((row) => row["id"] === id || row["name"] === id || row["model"] === id);
  // A server with a single model answers to any name.
  const matching = named.length > 0 ? named : provider === "llamacpp" ? rows : [];
  const props = isRecord(more) && provider !== "lmstudio" ? [more] : [];
  return mergeFacts([...matching, ...props].map(factsOf));
}

async function ollamaFacts(id: string, ask: QueryServer): Promise<ModelInfo> {
  const [shown, running] = await Promise.all([ask("/api/show", { model: id }), ask("/api/ps")]);
  const loaded = rowsIn(running, "models").filter(({ name, model }) => name === id || model === id);
  const { parameters, capabilities: list } = fieldsOf(shown);
  const [, size] = (typeof parameters === "string" && /^num_ctx\s+(\d+)$/m.exec(parameters)) || [];
  const infos = [...loaded.map(factsOf), ...(size === undefined ? [] : [{ contextWindow: Number(size) }])];
  // Its list is complete: it refuses tools for a model whose template does not support them.
  if (Array.isArray(list)) infos.push({ images: list.includes("vision"), tools: list.includes("tools") });
  return mergeFacts(infos);
}

/** For each fact, the first source that has it wins. */
function mergeFacts(infos: readonly ModelInfo[]): ModelInfo {
  return Object.assign({}, ...infos.toReversed());
}

function factsOf(row: Fields): ModelInfo {
  return omitUndefined({ contextWindow: windowOf(row), images: imagesOf(row), tools: toolsOf(row) });
}

/** llama-server; vLLM and SGLang; LM Studio and Ollama as loaded; gateways. */
function windowOf(row: Fields): number | undefined {
  const candidates = [
    fieldsOf(row["meta"])["n_ctx"],
    fieldsOf(row["default_generation_settings"])["n_ctx"],
    row["n_ctx"],
    row["max_model_len"],
    row["loaded_context_length"],
    row["context_length"],
    row["context_window"],
  ];
  return candidates.find((value): value is number => Number.isSafeInteger(value) && Number(value) > 0);
}

function imagesOf(row: Fields): boolean | undefined {
  const { modalities, capabilities } = row;
  const inputs = fieldsOf(row["architecture"])["input_modalities"] ?? row["input_modalities"] ?? modalities;
  if (Array.isArray(inputs)) return inputs.some((each) => each === "image" || each === "vision");
  const declared = fieldsOf(inputs)["vision"] ?? fieldsOf(capabilities)["vision"];
  if (typeof declared === "boolean") return declared;
  if (row["type"] === "vlm" || row["type"] === "llm") return row["type"] === "vlm";
  if (!Array.isArray(capabilities) || !capabilities.includes("completion")) return undefined;
  return capabilities.includes("vision") || capabilities.includes("multimodal");
}

function toolsOf(row: Fields): boolean | undefined {
  const caps = fieldsOf(row["chat_template_caps"]);
  const declared = caps["supports_tools"] ?? caps["supports_tool_calls"];
  if (typeof declared === "boolean") return declared;
  const template = row["chat_template"];
  return typeof template === "string" && template !== "" ? /\btools?\b/.test(template) : undefined;
}

function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}
