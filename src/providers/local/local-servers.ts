import { type Clock, systemClock } from "../../core/base/async.ts";
import { misuse } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import type { ModelInfo } from "../../core/model/model.ts";
import { variable } from "../../system/env.ts";
import { findPreset, presetNamed, standardVariables } from "../catalog.ts";
import { parseModelName } from "../model-name.ts";
import {
  type AddressOptions,
  type FoundModel,
  type ModelSearch,
  providerAddress,
} from "../provider-address.ts";
import { LOCAL_BASE_URLS, type LocalServer, probeLocalServers } from "./probe-local.ts";
import { askServer, LOADING, readModelFacts, type ServerFetch, serverRoot } from "./server-facts.ts";

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
