import { NanoAgentError } from "../core/base/errors.ts";
import { PRESETS, type Preset } from "../providers/catalog.ts";
import type { LocalServer } from "../providers/local/probe-local.ts";
import type { ModelReason } from "./coding-session/notice.ts";
import { type Environment, variable } from "./config/env.ts";
import type { EffectiveConfig } from "./config/merge-config.ts";

/** A model by name, and why it was chosen: the flag, variable, file or server that speaks for it. */
export interface ModelChoice {
  readonly name: string;
  readonly why: ModelReason;
  readonly source: string;
}

/** What a choice depends on. `probe` looks for local servers; it is only called when nothing else speaks. */
export interface ModelChoiceOptions {
  readonly config: Pick<EffectiveConfig, "values" | "sources">;
  readonly environment: Environment;
  readonly probe?: (environment: Environment) => Promise<readonly LocalServer[]>;
}

/**
 * The model of a run: what flag, `NANO_AGENT_MODEL` or config say, else a default of the first provider whose key is set (its own
 * `<NAME>_MODEL` variable, else the built-in one), else the first model of a local server that answers. Throws `missing_credentials`,
 * saying what to set, when there is none.
 */
export async function chooseModel(options: ModelChoiceOptions): Promise<ModelChoice> {
  const { config, environment, probe = probeLocal } = options;
  const { model } = config.values;
  if (model !== undefined) return { name: model, ...sourceOf(config.sources.get("model")) };
  const keyed = modelOfFirstKey(environment);
  if (keyed !== undefined) return keyed;
  for (const { provider, baseUrl, models } of await probe(environment)) {
    const [first] = models;
    if (first !== undefined)
      return { name: `${provider}/${first}`, why: "local", source: `the server at ${baseUrl}` };
  }
  throw new NanoAgentError("missing_credentials", nothingFound(environment));
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

async function probeLocal(environment: Environment): Promise<readonly LocalServer[]> {
  const { LOCAL_BASE_URLS, probeLocalServers } = await import("../providers/local/probe-local.ts");
  const baseUrls: { [name: string]: string } = { ...LOCAL_BASE_URLS };
  for (const { name, local, baseUrlVariables } of PRESETS) {
    const given = baseUrlVariables
      .map((each) => variable(environment, each))
      .find((url) => url !== undefined);
    if (local === true && given !== undefined && name in baseUrls) baseUrls[name] = given;
  }
  return probeLocalServers({ baseUrls });
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
  return `No model found.${named} Set a key (${keys.join(", ")}, …), or start a local server (Ollama, LM Studio, llama.cpp) and name its model with -m ollama/ID. "nano-agent demo" runs now, without any model.`;
}
