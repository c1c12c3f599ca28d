import { isNanoAgentError } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { Model } from "../../core/model/model.ts";
import { PRESETS } from "../../providers/catalog.ts";
import { fallbackModel } from "../../providers/fallback.ts";
import { LearnedModels, RatePauses } from "../../providers/model-call.ts";
import { keyVariableOf, readServerFacts, resolveLocalName } from "../../providers/model-choice.ts";
import { knownModelIds } from "../../providers/model-info.ts";
import { networkOptions } from "../../providers/network-options.ts";
import {
  type CustomProvider,
  type ResolveModelOptions,
  resolveModel,
} from "../../providers/resolve-model.ts";
import { createTransport } from "../../providers/transport.ts";
import { type Environment, variable } from "../../system/env.ts";
import type { ConfigFile, ProviderConfig } from "../settings/config-schema.ts";

export interface OpenModelOptions {
  readonly environment: Environment;
  readonly config: ConfigFile;
  readonly onNotice: (message: string) => void;
  /** Shared by models that may run side by side. */
  readonly pauses?: RatePauses | undefined;
  /** The facts about models learned from requests; shared in the same way. */
  readonly learned?: LearnedModels | undefined;
  /** Waits while the server of a local model loads it; default: its facts stay unknown. */
  readonly waits?: boolean;
}

/**
 * Opens a model with its fallbacks. Asks only the server of a local model. A fallback is left out with a
 * notice if it has no credentials, its server is loading, or the budget needs a price that is unknown.
 */
export async function openModel(name: string, options: OpenModelOptions): Promise<Model> {
  const { config, environment, onNotice } = options;
  const network = networkOptions(config.network, environment);
  const base: ResolveModelOptions = {
    env: (variableName) => variable(environment, variableName),
    network,
    transport: createTransport(network),
    pauses: options.pauses ?? new RatePauses(),
    learned: options.learned ?? new LearnedModels(),
    providers: customProviders(config.providers ?? {}),
  };
  const open = async (modelName: string, waits?: boolean): Promise<Model> => {
    const how = { ...options, waits };
    const each = await resolveLocalName(modelName, how);
    const facts = await readServerFacts(each, how);
    const model = resolveModel(each, { ...base, ...omitUndefined({ facts }) });
    if (model.info?.tools === false && config.toolCalls !== "text") onNotice(noToolsText(each));
    if (config.maxBudgetUsd === undefined || model.info?.price !== undefined) return model;
    const { loadPriceCatalog } = await import("../../providers/price-catalog.ts");
    return resolveModel(each, { ...base, prices: await loadPriceCatalog() });
  };
  const first = await withTextCalls(await open(name, options.waits), config);
  const others: Model[] = [];
  for (const fallback of config.fallbackModels ?? []) {
    const skip = (why: string): void => onNotice(`fallback model ${fallback} is left out: ${why}`);
    try {
      const model = await withTextCalls(await open(fallback), config);
      if (config.maxBudgetUsd === undefined || model.info?.price !== undefined) others.push(model);
      else skip("its price is unknown, and the budget counts in dollars.");
    } catch (error) {
      if (!isNanoAgentError(error, "missing_credentials", "provider_error")) throw error;
      skip(error.message);
    }
  }
  return others.length === 0 ? first : fallbackModel([first, ...others]);
}

async function withTextCalls(model: Model, { toolCalls }: ConfigFile): Promise<Model> {
  if (toolCalls !== "text") return model;
  const { callsAsText } = await import("../../providers/calls-as-text/calls-as-text.ts");
  return callsAsText(model);
}

function noToolsText(name: string): string {
  return `The server of ${name} says that its chat template has no place for tools. Use one that has (llama-server: --jinja with --chat-template-file), or read calls from the text: "toolCalls": "text".`;
}

/** Converts providers from the config's format to that of the provider layer. */
export function customProviders(providers: { readonly [name: string]: ProviderConfig }): {
  readonly [name: string]: CustomProvider;
} {
  return Object.fromEntries(
    Object.entries(providers).map(([name, { apiKeyEnv, ...rest }]) => [
      name,
      { ...rest, ...omitUndefined({ apiKeyVariable: apiKeyEnv }) },
    ]),
  );
}

/** Models available now: configured ones, then those of providers whose key is set. Makes no request. */
export function availableModels(
  config: Pick<ConfigFile, "providers">,
  environment: Environment,
): readonly string[] {
  const own = Object.entries(config.providers ?? {}).flatMap(([provider, { models = {} }]) =>
    Object.keys(models).map((id) => `${provider}/${id}`),
  );
  const known = PRESETS.filter(
    (preset) => preset.local !== true && keyVariableOf(preset, environment) !== undefined,
  ).flatMap(({ name }) => knownModelIds(name).map((id) => `${name}/${id}`));
  return [...new Set([...own, ...known])];
}
