import { PRESETS } from "../../providers/catalog.ts";
import { keyVariableOf } from "../../providers/model-choice.ts";
import { knownModelIds } from "../../providers/model-info.ts";
import type { Environment } from "../../system/env.ts";
import type { ConfigFile } from "../settings/config-schema.ts";

/** Models to choose from now: configured ones, then those of providers whose key is set. Asks nobody. */
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
