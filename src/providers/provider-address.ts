import { ownValue } from "../core/base/json.ts";
import { type Environment, variable } from "../system/env.ts";
import { presetNamed, standardVariables } from "./catalog.ts";

export interface AddressOptions {
  readonly environment: Environment;
  readonly config: {
    readonly providers?: {
      readonly [name: string]: { readonly baseUrl?: string; readonly apiKeyEnv?: string };
    };
  };
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

/** A model of a local server that was found. */
export interface FoundModel {
  /** That of the model; of the server alone while that is loading and does not say which. */
  readonly name: string;
  readonly baseUrl: string;
  readonly isLoading?: true;
}

/** How local servers are looked for. */
export interface ModelSearch {
  /** Looks again while the server loads its model: only where somebody chose it. Default false. */
  readonly waits?: boolean | undefined;
  /** The only server that counts. */
  readonly baseUrl?: string;
}
