import { type Clock, systemClock } from "../core/base/clock.ts";
import { defined } from "../core/base/defined.ts";
import { misuse } from "../core/base/errors.ts";
import type { ModelInfo } from "../core/model/model.ts";
import { findPreset, PRESETS, standardVariables } from "../providers/catalog.ts";
import { LOCAL_BASE_URLS, type LocalServer, probeLocalServers } from "../providers/local/probe-local.ts";
import {
  askServer,
  LOADING,
  readModelFacts,
  type ServerFetch,
  serverRoot,
} from "../providers/local/server-facts.ts";
import { parseModelName } from "../providers/model-name.ts";
import type { ConfigFile } from "./config/config-schema.ts";
import { type Environment, variable } from "./config/env.ts";

/** Options of where local servers are looked for, and how they are asked. */
export interface LocalServerOptions {
  readonly environment: Environment;
  readonly config: Pick<ConfigFile, "providers">;
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
    Object.entries(LOCAL_BASE_URLS).map(([name, usual]) => [name, baseUrlOf(name, options) ?? usual]),
  );
  const { fetch } = options;
  return probeLocalServers({ baseUrls, timeoutMs: ANSWER_MS, ...defined({ fetch }) });
}

/** The first model of the first local server that has one, after it is loaded; undefined without. */
export async function firstLocalModel(
  options: LocalServerOptions,
): Promise<{ readonly name: string; readonly baseUrl: string } | undefined> {
  return untilLoaded(options, async () => {
    const servers = await findLocalServers(options);
    const server = servers.find(({ models }) => models.length > 0);
    if (server !== undefined)
      return {
        found: { name: `${server.provider}/${server.models[0] ?? ""}`, baseUrl: server.baseUrl },
      };
    const loading = servers.find(({ isLoading }) => isLoading === true);
    return loading === undefined ? { found: undefined } : { loadingAt: loading.baseUrl };
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

/** The facts a local model's server tells once it is loaded; undefined where none answers. */
export async function localModelFacts(name: string, options: LocalServerOptions): Promise<ModelInfo> {
  const { provider, id } = parseModelName(name);
  const preset = PRESETS.find((each) => each.name === provider.toLowerCase());
  const own = options.config.providers?.[provider];
  const baseUrl = baseUrlOf(preset?.name ?? provider, options) ?? preset?.baseUrl ?? "";
  const keyVariables = preset?.keyVariables ?? [own?.apiKeyEnv ?? standardVariables(provider).key];
  const apiKey = keyVariables.map((each) => variable(options.environment, each)).find(Boolean);
  const { fetch = globalThis.fetch } = options;
  const facts = await untilLoaded(options, async () => {
    const ask = askServer({ root: serverRoot(baseUrl), fetch, timeoutMs: ANSWER_MS, apiKey });
    const read = await readModelFacts(preset?.name ?? provider, id, ask);
    return read === LOADING ? { loadingAt: baseUrl } : { found: read };
  });
  return facts ?? {};
}

type Look<T> = { readonly found: T } | { readonly loadingAt: string };

/** Looks again while a server loads its model, and says once that it does. */
async function untilLoaded<T>(
  { onNotice, clock = systemClock }: LocalServerOptions,
  look: () => Promise<Look<T>>,
): Promise<T | undefined> {
  for (let waitedMs = 0; ; waitedMs += LOADING_STEP_MS) {
    const seen = await look();
    if ("found" in seen) return seen.found;
    if (waitedMs >= MAX_LOADING_MS) return undefined;
    if (waitedMs === 0) onNotice?.(`The server at ${seen.loadingAt} is loading its model. Waiting for it.`);
    await clock.sleep(LOADING_STEP_MS);
  }
}

function baseUrlOf(provider: string, { config, environment }: LocalServerOptions): string | undefined {
  const variables = PRESETS.find(({ name }) => name === provider)?.baseUrlVariables ?? [];
  return (
    config.providers?.[provider]?.baseUrl ??
    variables.map((each) => variable(environment, each)).find((url) => url !== undefined)
  );
}

function baseUrlVariable(provider: string): string {
  return findPreset(provider).baseUrlVariables[0] ?? "its base URL";
}
