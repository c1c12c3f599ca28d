import { ownValue } from "../../core/base/json.ts";
import { presetNamed, standardVariables } from "../../providers/catalog.ts";
import { type Environment, variable } from "../../system/env.ts";
import type { ConfigFile } from "../settings/config-schema.ts";

export interface AddressOptions {
  readonly environment: Environment;
  readonly config: Pick<ConfigFile, "providers">;
}

/**
 * The base URL requests to a provider go to: as configured, of its variable, or the usual one. Undefined for
 * a provider that nobody knows, and one that has none.
 */
export function providerAddress(
  provider: string,
  { config, environment }: AddressOptions,
): string | undefined {
  const own = ownValue(config.providers ?? {}, provider);
  const preset = presetNamed(provider.toLowerCase());
  const standard = own === undefined ? [] : [standardVariables(provider).baseUrl];
  const given = (preset?.baseUrlVariables ?? standard)
    .map((name) => variable(environment, name))
    .find((url) => url !== undefined);
  return [own?.baseUrl, given, preset?.baseUrl].find((url) => url !== undefined && url !== "");
}
