/** Local servers that are looked for, in order of preference. */
export type LocalProvider = "ollama" | "lmstudio" | "llamacpp" | "vllm";

/** A local server that answered. */
export interface LocalServer {
  readonly provider: LocalProvider;
  /** Base URL of its OpenAI-compatible API, e.g. `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** Ids of its models; those already loaded come first. Empty when none is installed. */
  readonly models: readonly string[];
}

/** Where and how to look. */
export interface ProbeLocalOptions {
  /** Default: the global `fetch`. */
  readonly fetch?: (url: string, init: { readonly signal: AbortSignal }) => Promise<Response>;
  /** Time for each server, in milliseconds. Default 300. */
  readonly timeoutMs?: number;
  /**
   * Addresses to try, with or without `/v1`. Default: each server's own port on 127.0.0.1. A provider that is absent is not
   * looked for.
   */
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
 * Asks all local model servers at once which models they have. Servers that do not answer in time, or answer something else
 * (another program on that port), are left out. Never rejects; reads no environment.
 */
export async function probeLocalServers(options: ProbeLocalOptions = {}): Promise<readonly LocalServer[]> {
  const { baseUrls = LOCAL_BASE_URLS, timeoutMs = 300, fetch = globalThis.fetch } = options;
  const found = await Promise.all(
    PROVIDERS.map(async (provider): Promise<readonly LocalServer[]> => {
      const given = baseUrls[provider];
      if (given === undefined) return [];
      const root = given.replace(/\/+$/, "").replace(/\/v1$/, "");
      const signal = AbortSignal.timeout(timeoutMs);
      const get = (path: string): Promise<unknown> => getJson(fetch, `${root}${path}`, signal);
      const models = await MODELS_OF[provider](get);
      return models === undefined ? [] : [{ provider, baseUrl: `${root}/v1`, models }];
    }),
  );
  return found.flat();
}

const PROVIDERS: readonly LocalProvider[] = ["ollama", "lmstudio", "llamacpp", "vllm"];

type Get = (path: string) => Promise<unknown>;

/** Model ids of a server, loaded ones first; `undefined` when it is not that server. */
const MODELS_OF: { readonly [P in LocalProvider]: (get: Get) => Promise<readonly string[] | undefined> } = {
  ollama: async (get) => {
    const [installed, loaded, compatible] = await Promise.all([
      get("/api/tags"),
      get("/api/ps"),
      get("/v1/models"),
    ]);
    // What listens in its place, a gateway say, may have the compatible API only.
    const all = idsIn(installed, "models", "name") ?? idsIn(compatible, "data", "id");
    if (all === undefined) return undefined;
    const first = idsIn(loaded, "models", "name") ?? [];
    return [...new Set([...first.filter((id) => all.includes(id)), ...all])];
  },
  lmstudio: async (get) => {
    const [own, compatible] = await Promise.all([get("/api/v0/models"), get("/v1/models")]);
    return lmStudioIds(own) ?? idsIn(compatible, "data", "id");
  },
  llamacpp: async (get) => idsIn(await get("/v1/models"), "data", "id"),
  vllm: async (get) => idsIn(await get("/v1/models"), "data", "id"),
};

async function getJson(
  fetch: NonNullable<ProbeLocalOptions["fetch"]>,
  url: string,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const answer = await fetch(url, { signal });
    if (!answer.ok) {
      await answer.body?.cancel();
      return undefined;
    }
    return await answer.json();
  } catch {
    return undefined;
  }
}

function lmStudioIds(answer: unknown): readonly string[] | undefined {
  const rows = rowsIn(answer, "data")?.filter((row) => row["type"] !== "embeddings");
  if (rows === undefined || !rows.every((row) => typeof row["state"] === "string")) return undefined;
  const loadedFirst = [
    ...rows.filter((row) => row["state"] === "loaded"),
    ...rows.filter((row) => row["state"] !== "loaded"),
  ];
  return loadedFirst.map((row) => row["id"]).filter((id) => typeof id === "string");
}

function idsIn(answer: unknown, list: string, key: string): readonly string[] | undefined {
  return rowsIn(answer, list)
    ?.map((row) => row[key])
    .filter((id) => typeof id === "string");
}

type Row = { readonly [key: string]: unknown };

function rowsIn(answer: unknown, list: string): readonly Row[] | undefined {
  if (!isRow(answer)) return undefined;
  const rows = answer[list];
  return Array.isArray(rows) && rows.every(isRow) ? rows : undefined;
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null;
}
