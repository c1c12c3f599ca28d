import { NanoAgentError } from "../core/base/errors.ts";
import type { ModelInfo } from "../core/model/model.ts";
import { type Environment, variable } from "../system/env.ts";
import {
  type AddressOptions,
  type FoundModel,
  type ModelSearch,
  PRESETS,
  type Preset,
  presetNamed,
  providerAddress,
  standardVariables,
} from "./catalog.ts";
import type { LocalServerOptions } from "./local/local-servers.ts";
import { isLoopback } from "./network.ts";

/** The model name that stands for the first local server that answers. */
export const LOCAL_MODEL = "local";

/** Why a model was chosen. */
export type ModelReason = "flag" | "environment" | "config" | "key" | "local" | "resumed";

/** A model by name, and why it was chosen: the flag, variable, file or server that named it. */
export interface ModelChoice {
  readonly name: string;
  readonly why: ModelReason;
  readonly source: string;
}

export interface ModelChoiceOptions {
  readonly config: {
    readonly values: AddressOptions["config"] & { readonly model?: string };
    readonly sources: ReadonlyMap<string, string>;
  };
  readonly environment: Environment;
  /** Asks the user whether to use a server that was found, not chosen. Default: it is not used. */
  readonly accept?: ((found: FoundModel) => Promise<boolean>) | undefined;
  /** Looks for local servers; only called if nothing else names a model, or if it is `local`. */
  readonly probe?: (search: ModelSearch) => Promise<FoundModel | undefined>;
  /** Waits for a chosen server that is loading its model. Default: loading is an error. */
  readonly waits?: boolean;
  readonly onNotice?: (message: string) => void;
}

/**
 * Chooses the model of a run: the one named by flag, `NANO_AGENT_MODEL` or config, else a default of the
 * first provider whose key is set (its own `<NAME>_MODEL` variable, else the built-in one). A local server
 * only gets a prompt if the user chose it: by name, with `local`, or by confirming `accept`; only a chosen
 * one is waited for. Throws `missing_credentials`, saying what to set, if there is no model, and
 * `provider_error` with `details.reason` `model_loading` if the chosen server has none yet.
 */
export async function chooseModel(options: ModelChoiceOptions): Promise<ModelChoice> {
  const { config, environment } = options;
  const { model } = config.values;
  const given = sourceOf(config.sources.get("model"));
  if (model !== undefined && model !== LOCAL_MODEL) return { name: model, ...given };
  const byKey = model === undefined ? modelOfFirstKey(environment) : undefined;
  if (byKey !== undefined) return byKey;
  const { probe = (search) => probeLocal(options, search), waits = false } = options;
  if (model === LOCAL_MODEL) {
    const { name, baseUrl } = requireLoaded(await probe({ waits }));
    return { name, why: "local", source: `${given.source}: the server at ${baseUrl}` };
  }
  const found = await probe({ waits: false });
  if (found === undefined) throw new NanoAgentError("missing_credentials", noModelMessage(environment));
  const { name, baseUrl, isLoading } = found;
  if ((await options.accept?.(found)) !== true)
    throw new NanoAgentError("missing_credentials", unconfirmed(found), {
      details: { found: name, baseUrl },
    });
  const chosen = isLoading === true && waits ? await probe({ waits, baseUrl }) : found;
  return { name: requireLoaded(chosen).name, why: "local", source: `your yes to the server at ${baseUrl}` };
}

/** Throws unless a server was found and has loaded its model. */
function requireLoaded(found: FoundModel | undefined): FoundModel {
  if (found === undefined) throw new NanoAgentError("missing_credentials", NO_SERVER_MESSAGE);
  const { name, baseUrl, isLoading } = found;
  if (isLoading !== true) return found;
  throw new NanoAgentError(
    "provider_error",
    `The server at ${baseUrl} (${name}) is loading its model. Try again when it has; a run with -m local waits for it.`,
    { retryable: true, details: { baseUrl, reason: "model_loading" } },
  );
}

/**
 * Resolves a model name: `local` becomes the first local server's model. Throws `missing_credentials` if no
 * local server answers.
 */
export async function resolveLocalName(
  name: string,
  options: Omit<LocalServerOptions, "fetch">,
): Promise<string> {
  if (name !== LOCAL_MODEL) return name;
  const { firstLocalModel } = await import("./local/local-servers.ts");
  return requireLoaded(await firstLocalModel(options)).name;
}

export function keyVariableOf(preset: Preset, environment: Environment): string | undefined {
  return [...preset.keyVariables, ...(preset.tokenVariables ?? [])].find(
    (name) => variable(environment, name) !== undefined,
  );
}

function sourceOf(source = "configuration"): Pick<ModelChoice, "why" | "source"> {
  const why = source === "command line" ? "flag" : source === "NANO_AGENT_MODEL" ? "environment" : "config";
  return { why, source };
}

function modelOfFirstKey(environment: Environment): ModelChoice | undefined {
  for (const preset of PRESETS) {
    const key = preset.local === true ? undefined : keyVariableOf(preset, environment);
    if (key === undefined) continue;
    const id = variable(environment, standardVariables(preset.name).model) ?? preset.defaultModel;
    if (id !== undefined) return { name: `${preset.name}/${id}`, why: "key", source: key };
  }
  return undefined;
}

async function probeLocal(
  { config, environment, onNotice }: ModelChoiceOptions,
  search: ModelSearch,
): Promise<FoundModel | undefined> {
  const { firstLocalModel } = await import("./local/local-servers.ts");
  return firstLocalModel({ environment, config: config.values, onNotice, ...search });
}

const NO_SERVER_MESSAGE =
  "No local server answers with a model. Start one (Ollama, LM Studio, llama.cpp, vLLM), or set its address: OLLAMA_BASE_URL, LMSTUDIO_BASE_URL, LLAMACPP_BASE_URL, VLLM_BASE_URL.";

function unconfirmed({ name, baseUrl, isLoading }: FoundModel): string {
  if (isLoading === true)
    return `No model was chosen. The server at ${baseUrl} (${name}) is loading its model, but it has not been allowed to receive your prompt. To use it, and wait for it: -m local, or NANO_AGENT_MODEL=local, or "model": "local" in the configuration.`;
  return `No model was chosen. The server at ${baseUrl} has ${name}, but it has not been allowed to receive your prompt. To use it: -m ${name}, or -m local for any local server that answers, or NANO_AGENT_MODEL, or "model" in the configuration.`;
}

function noModelMessage(environment: Environment): string {
  const hosted = PRESETS.filter((preset) => preset.local !== true);
  const keys = hosted
    .filter(({ defaultModel }) => defaultModel !== undefined)
    .map(({ keyVariables: [name] }) => name);
  const withoutDefault = hosted.find((preset) => keyVariableOf(preset, environment) !== undefined);
  const named =
    withoutDefault === undefined
      ? ""
      : ` ${keyVariableOf(withoutDefault, environment) ?? ""} is set, but ${withoutDefault.name} has no default model: name one with -m ${withoutDefault.name}/ID.`;
  return `No model found.${named} Set a key (${keys.slice(0, 4).join(", ")}, …), or start a local server (Ollama, LM Studio, llama.cpp) and use it with NANO_AGENT_MODEL=local or -m ollama/ID. For a server of your own set OPENAI_BASE_URL and OPENAI_API_KEY, and use -m openai-chat/ID.`;
}

/**
 * The facts a local model's server reports about it. For any other model, nothing is loaded or queried: only
 * local presets at any address, and custom providers on this machine, are queried.
 */
export async function readServerFacts(
  name: string,
  options: LocalServerOptions,
): Promise<ModelInfo | undefined> {
  const provider = name.slice(0, Math.max(0, name.indexOf("/")));
  const address = providerAddress(provider, options);
  const preset = presetNamed(provider.toLowerCase());
  const isCustom = preset === undefined || preset.baseUrl === "";
  const isOnThisMachine = isLoopback(URL.parse(address ?? "")?.hostname ?? "");
  if (address === undefined || !(isCustom ? isOnThisMachine : preset.local === true)) return undefined;
  const { localModelFacts } = await import("./local/local-servers.ts");
  return localModelFacts(name, options);
}
