import { readOption } from "../core/base/check-options.ts";
import { invalidConfig } from "../core/base/errors.ts";
import { omitUndefined } from "../core/base/json.ts";
import type { JsonSchema } from "../core/base/schema.ts";
import { type Environment, variable } from "../system/env.ts";
import { readNoProxy } from "./http-proxy.ts";
import { NETWORK_NUMBERS, type NetworkOptions } from "./network.ts";

/** Network options allowed in a configuration. */
export type NetworkConfig = Omit<NetworkOptions, "ca">;

/** The value of a variable, if it is set. Throws `invalid_config`, naming it, if the value is invalid. */
export function readVariable(name: string, schema: JsonSchema, environment: Environment): unknown {
  const text = variable(environment, name);
  if (text === undefined) return undefined;
  const read = readOption(text, schema);
  if ("value" in read) return read.value;
  throw invalidConfig(`${name} is ${JSON.stringify(text)}; it must be ${read.expected}.`);
}

export function networkVariables(environment: Environment): NetworkConfig {
  const read = Object.entries(NETWORK_NUMBERS).map(([name, { variable: from, ...schema }]) => [
    name,
    readVariable(from, schema, environment),
  ]);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as NetworkConfig;
}

/**
 * Combines the config's figures with its proxies, else with those of `HTTP_PROXY`, `HTTPS_PROXY` (or
 * `ALL_PROXY`) and `NO_PROXY`; lower-case names take precedence.
 */
export function networkOptions(config: NetworkConfig | undefined, environment: Environment): NetworkOptions {
  const { proxy = proxyFrom(environment), ...figures } = config ?? {};
  return proxy === undefined ? figures : { ...figures, proxy };
}

function proxyFrom(environment: Environment): NetworkOptions["proxy"] {
  const read = (name: string): string | undefined =>
    variable(environment, name.toLowerCase()) ?? variable(environment, name);
  const allProxy = read("ALL_PROXY");
  const http = read("HTTP_PROXY") ?? allProxy;
  const https = read("HTTPS_PROXY") ?? allProxy;
  if (http === undefined && https === undefined) return undefined;
  return omitUndefined({ http, https, noProxy: read("NO_PROXY") });
}

/** Invalid entries in the list of hosts to reach directly. Empty if there is no proxy. */
export function invalidNoProxyEntries(
  config: NetworkConfig | undefined,
  environment: Environment,
): readonly string[] {
  return readNoProxy(networkOptions(config, environment).proxy?.noProxy ?? "").invalid;
}

export const NO_PROXY_EXAMPLES = "example.com, host:8080, 10.0.0.0/8, 10.* or fd00::1";
