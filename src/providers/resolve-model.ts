import type { Clock } from "../core/base/async.ts";
import { assertEngine, invalidConfig, NanoAgentError } from "../core/base/errors.ts";
import { omitUndefined, ownValue } from "../core/base/json.ts";
import type { WireName } from "../core/message/message.ts";
import { withStream } from "../core/model/answer.ts";
import type { Model, ModelInfo } from "../core/model/model.ts";
import {
  type ApiAddress,
  apiAddress,
  findPreset,
  PRESETS,
  type Preset,
  presetNamed,
  standardVariables,
} from "./catalog.ts";
import type { LearnedModels, RatePauses } from "./model-call.ts";
import { knownModelInfo, parseModelName } from "./model-info.ts";
import type { NetworkOptions } from "./network.ts";
import type { PriceCatalog } from "./price-catalog.ts";
import { createTransport, type Fetch, type Transport } from "./transport.ts";
import type { Wire } from "./wire.ts";
import { createWireModel } from "./wire-model.ts";

/** A user-defined provider. Absent members come from the preset of the same name. */
export interface CustomProvider {
  /** Default: the preset's, else `openai_chat`. */
  readonly wire?: WireName;
  readonly baseUrl?: string;
  /** The key itself. Overrides `apiKeyVariable` and the environment. */
  readonly apiKey?: string;
  /** Environment variable with the key. Default `<NAME>_API_KEY`. */
  readonly apiKeyVariable?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly quirks?: { readonly [name: string]: boolean | string | number };
  /** Facts about its models by id; they override built-in ones. */
  readonly models?: { readonly [id: string]: ModelInfo };
}

/** Options of {@link resolveModel}. */
export interface ResolveModelOptions {
  /** Reads an environment variable. Default: none, because this code never reads the environment itself. */
  readonly env?: (name: string) => string | undefined;
  readonly network?: NetworkOptions;
  readonly providers?: { readonly [name: string]: CustomProvider };
  /** Sends requests instead of `node:http`. */
  readonly fetch?: Fetch;
  /** Shared by models under the same limits. Default: each model only knows its own requests. */
  readonly pauses?: RatePauses;
  /** Facts learned from requests, shared by models of one process. Default: each learns its own. */
  readonly learned?: LearnedModels;
  /** Shared by several models. Default: its own transport. */
  readonly transport?: Transport;
  /** Extra headers for every request; they override all others. */
  readonly headers?: { readonly [name: string]: string };
  /** The key itself, for this model only. */
  readonly apiKey?: string;
  /** The base URL, for this model only. */
  readonly baseUrl?: string;
  /** Prices and windows besides the built-in ones, e.g. from `loadPriceCatalog()`. */
  readonly prices?: PriceCatalog;
  /** Facts from the server itself; configured ones override them. */
  readonly facts?: ModelInfo;
  readonly clock?: Clock;
}

/**
 * Resolves a name like `anthropic/claude-sonnet-5` or `ollama/qwen3-coder:low` to a model. Name and
 * credentials are checked now, before any request: throws `invalid_argument`, `unknown_provider`,
 * `missing_credentials` (naming the variable to set) or `invalid_config`. The code for its wire format is
 * loaded with the first request.
 */
export function resolveModel(name: string, options: ResolveModelOptions = {}): Model {
  assertEngine();
  const { provider, id, effort } = parseModelName(name);
  const { fetch, network, clock } = options;
  const { preset, custom } = providerOf(provider, options);
  const { baseUrl, endpoint } = addressOf(preset, custom, options);
  const wire = custom.wire ?? endpoint?.wire ?? wireOf(preset, baseUrl);
  const { apiKey, quirks } = credentialsOf(preset, custom, options);
  const info = infoOf(preset, custom, id, options);
  const address = `${preset.name} ${baseUrl}`;
  const model = createWireModel({
    provider: preset.name,
    id,
    wire: WIRE_LOADERS[wire],
    target: {
      provider: preset.name,
      modelId: id,
      baseUrl,
      headers: { ...custom.headers, ...options.headers },
      quirks: { ...quirks, ...custom.quirks },
      ...omitUndefined({
        apiKey,
        maxOutputTokens: info?.maxOutputTokens,
        endpoint: endpoint?.wire === wire ? endpoint.url : undefined,
      }),
    },
    transport: options.transport ?? createTransport({ ...network, ...omitUndefined({ fetch }) }),
    fillsWindow: preset.local === true,
    ...omitUndefined({
      info,
      network,
      clock,
      pause: options.pauses?.of(address),
      learned: options.learned?.of(`${address} ${id}`),
    }),
  });
  if (effort === undefined) return model;
  // The name's effort applies to requests without one.
  return withStream(model, (request, callOptions) =>
    model.stream(request.effort === undefined ? { ...request, effort } : request, callOptions),
  );
}

const WIRE_LOADERS: { readonly [W in WireName]: () => Promise<Wire> } = {
  anthropic: async () => (await import("./anthropic/anthropic-wire.ts")).anthropicWire,
  openai_chat: async () => (await import("./openai-chat/chat-wire.ts")).openAiChat,
  openai_responses: async () => (await import("./openai-responses/responses-wire.ts")).openAiResponses,
  google: async () => (await import("./google/google-wire.ts")).googleWire,
};

function providerOf(
  name: string,
  { providers = {} }: ResolveModelOptions,
): { readonly preset: Preset; readonly custom: CustomProvider } {
  const custom = ownValue(providers, name);
  if (custom === undefined)
    return { preset: findPreset(name, [...PRESETS, ...Object.entries(providers).map(toPreset)]), custom: {} };
  return { preset: presetNamed(name) ?? toPreset([name, custom]), custom };
}

/** A provider without a preset only needs a key if its definition names a variable for one. */
function toPreset([name, custom]: readonly [string, CustomProvider]): Preset {
  const variables = standardVariables(name);
  return {
    name,
    wire: custom.wire ?? "openai_chat",
    baseUrl: custom.baseUrl ?? "",
    keyVariables: [custom.apiKeyVariable ?? variables.key],
    baseUrlVariables: [variables.baseUrl],
    local: custom.apiKeyVariable === undefined,
  };
}

function addressOf(preset: Preset, custom: CustomProvider, options: ResolveModelOptions): ApiAddress {
  const given =
    options.baseUrl ?? custom.baseUrl ?? firstSetVariable(preset.baseUrlVariables, options) ?? preset.baseUrl;
  const address = apiAddress(given);
  const text = address.baseUrl;
  if (text === "") {
    throw invalidConfig(
      `The provider ${preset.name} has no base URL. Set ${preset.baseUrlVariables[0] ?? "its base URL"}, or providers.${preset.name}.baseUrl in the configuration.`,
      { details: { provider: preset.name } },
    );
  }
  const url = URL.parse(text);
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) return address;
  throw invalidConfig(`The base URL of ${preset.name}, "${text}", is not an http or https address.`, {
    details: { provider: preset.name, baseUrl: text },
  });
}

/** `openai` uses Responses only with OpenAI itself: most imitators only copied Chat Completions. */
function wireOf(preset: Preset, baseUrl: string): WireName {
  if (preset.name !== "openai") return preset.wire;
  return URL.parse(baseUrl)?.hostname === "api.openai.com" ? "openai_responses" : "openai_chat";
}

function credentialsOf(
  preset: Preset,
  custom: CustomProvider,
  options: ResolveModelOptions,
): { readonly apiKey?: string; readonly quirks?: { readonly auth: string } } {
  const variables = custom.apiKeyVariable === undefined ? preset.keyVariables : [custom.apiKeyVariable];
  const apiKey = (options.apiKey ?? custom.apiKey ?? firstSetVariable(variables, options))?.trim() ?? "";
  if (apiKey !== "") return { apiKey };
  const token = firstSetVariable(preset.tokenVariables ?? [], options);
  if (token !== undefined) return { apiKey: token, quirks: { auth: "bearer" } };
  const headers = Object.keys({ ...custom.headers, ...options.headers });
  if (preset.local === true || headers.some((each) => CREDENTIAL_HEADER.test(each))) return {};
  throw new NanoAgentError(
    "missing_credentials",
    `There is no API key for ${preset.name}. Set ${variables.join(" or ")}.`,
    { details: { provider: preset.name, variables: [...variables] } },
  );
}

const CREDENTIAL_HEADER = /^(?:authorization|x-api-key|api-key|x-goog-api-key)$/i;

function firstSetVariable(variables: readonly string[], { env }: ResolveModelOptions): string | undefined {
  for (const variable of variables) {
    const value = env?.(variable)?.trim();
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}

function infoOf(
  preset: Preset,
  custom: CustomProvider,
  id: string,
  options: ResolveModelOptions,
): ModelInfo | undefined {
  const parts = [
    preset.local === true ? undefined : options.prices?.find(preset.name, id),
    knownModelInfo(preset.name, id),
    options.facts,
    ownValue(custom.models ?? {}, id),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : Object.assign({}, ...parts);
}
