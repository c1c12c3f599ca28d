import type { NetworkOptions } from "../providers/network.ts";
import type { NetworkConfig } from "./config/config-schema.ts";
import { type Environment, variable } from "./config/env.ts";

/**
 * How requests use the network: the config's figures, and its proxies, else those of `HTTP_PROXY`, `HTTPS_PROXY` (or `ALL_PROXY`) and
 * `NO_PROXY`, in capital or small letters.
 */
export function networkOptions(config: NetworkConfig | undefined, environment: Environment): NetworkOptions {
  const { proxy = proxyFrom(environment), ...figures } = config ?? {};
  return proxy === undefined ? figures : { ...figures, proxy };
}

function proxyFrom(environment: Environment): NetworkOptions["proxy"] {
  const read = (name: string): string | undefined =>
    variable(environment, name.toLowerCase()) ?? variable(environment, name);
  const all = read("ALL_PROXY");
  const http = read("HTTP_PROXY") ?? all;
  const https = read("HTTPS_PROXY") ?? all;
  const noProxy = read("NO_PROXY");
  if (http === undefined && https === undefined) return undefined;
  return {
    ...(http === undefined ? {} : { http }),
    ...(https === undefined ? {} : { https }),
    ...(noProxy === undefined ? {} : { noProxy }),
  };
}
