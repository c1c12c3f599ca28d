import {
  type AskServer,
  askServer,
  idsIn,
  LOADING,
  lmStudioIds,
  type ServerFetch,
  serverRoot,
} from "./server-facts.ts";

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
