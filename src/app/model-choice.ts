import { NanoAgentError } from "../core/base/errors.ts";
import { PRESETS, type Preset } from "../providers/catalog.ts";
import type { ModelReason } from "./coding-session/notice.ts";
import { type Environment, variable } from "./config/env.ts";
import type { EffectiveConfig } from "./config/merge-config.ts";

/** The model name that stands for whatever local server answers first. */
export const LOCAL_MODEL = "local";

/** A model by name, and why it was chosen: the flag, variable, file or server that speaks for it. */
export interface ModelChoice {
  readonly name: string;
  readonly why: ModelReason;
  readonly source: string;
}

/** A model of a local server that was found. */
export interface FoundModel {
  readonly name: string;
  readonly baseUrl: string;
}

/** The facts a choice depends on. */
export interface ModelChoiceOptions {
  readonly config: Pick<EffectiveConfig, "values" | "sources">;
  readonly environment: Environment;
  /** Asks a person whether to use a server that was found, not chosen. Default: it is not used. */
  readonly accept?: ((found: FoundModel) => Promise<boolean>) | undefined;
  /** Looks for local servers; it is only called when nothing else speaks, or when `local` was said. */
  readonly probe?: () => Promise<FoundModel | undefined>;
  readonly onNotice?: (message: string) => void;
}

/**
 * The model of a run: what flag, `NANO_AGENT_MODEL` or config say, else a default of the first provider whose
 * key is set (its own `<NAME>_MODEL` variable, else the built-in one). A local server gets a prompt only when
 * somebody chose it: by name, with `local`, or by a yes to `accept`. Throws `missing_credentials`, saying
 * what to set, when there is no model.
 */
export async function chooseModel(options: ModelChoiceOptions): Promise<ModelChoice> {
  const { config, environment } = options;
  const { model } = config.values;
  const given = sourceOf(config.sources.get("model"));
  if (model !== undefined && model !== LOCAL_MODEL) return { name: model, ...given };
  const keyed = model === undefined ? modelOfFirstKey(environment) : undefined;
  if (keyed !== undefined) return keyed;
  const found = await (options.probe ?? (() => probeLocal(options)))();
  if (found === undefined)
    throw new NanoAgentError(
      "missing_credentials",
      model === undefined ? nothingFound(environment) : NO_SERVER,
    );
  const { name, baseUrl } = found;
  if (model === LOCAL_MODEL)
    return { name, why: "local", source: `${given.source}: the server at ${baseUrl}` };
  if ((await options.accept?.(found)) === true)
    return { name, why: "local", source: `your yes to the server at ${baseUrl}` };
  throw new NanoAgentError("missing_credentials", notChosen(found), { details: { found: name, baseUrl } });
}

/** The variable that holds a provider's key, if one is set. */
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
    const id = variable(environment, modelVariable(preset)) ?? preset.defaultModel;
    if (id !== undefined) return { name: `${preset.name}/${id}`, why: "key", source: key };
  }
  return undefined;
}

function modelVariable({ name }: Preset): string {
  return `${name.toUpperCase().replaceAll("-", "_")}_MODEL`;
}

async function probeLocal({
  config,
  environment,
  onNotice,
}: ModelChoiceOptions): Promise<FoundModel | undefined> {
  const { firstLocalModel } = await import("./local-servers.ts");
  return firstLocalModel({ environment, config: config.values, onNotice });
}

const NO_SERVER =
  "No local server answers with a model. Start one (Ollama, LM Studio, llama.cpp, vLLM), or set its address: OLLAMA_BASE_URL, LMSTUDIO_BASE_URL, LLAMACPP_BASE_URL, VLLM_BASE_URL.";

function notChosen({ name, baseUrl }: FoundModel): string {
  return `No model was chosen. The server at ${baseUrl} has ${name}, but nobody said that it may have your prompt. To use it: -m ${name}, or -m local for whatever local server answers, or NANO_AGENT_MODEL, or "model" in the configuration.`;
}

function nothingFound(environment: Environment): string {
  const keys = PRESETS.filter((preset) => preset.local !== true && preset.defaultModel !== undefined)
    .slice(0, 4)
    .map((preset) => preset.keyVariables[0] ?? "");
  const undecided = PRESETS.find(
    (preset) => preset.local !== true && keyVariableOf(preset, environment) !== undefined,
  );
  const named =
    undecided === undefined
      ? ""
      : ` ${keyVariableOf(undecided, environment) ?? ""} is set, but ${undecided.name} has no default model: name one with -m ${undecided.name}/ID.`;
  return `No model found.${named} Set a key (${keys.join(", ")}, …), or start a local server (Ollama, LM Studio, llama.cpp) and use it with NANO_AGENT_MODEL=local or -m ollama/ID.`;
}
