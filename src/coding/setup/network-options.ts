import { defined } from "../../core/base/defined.ts";
import type { NetworkOptions } from "../../providers/network.ts";
import { readNoProxy } from "../../providers/no-proxy.ts";
import { type Environment, variable } from "../../system/env.ts";
import type { WebFetchOptions } from "../../tools/web-fetch-tool.ts";
import type { ConfigFile, NetworkConfig } from "../settings/config-schema.ts";

/**
 * How requests use the network: the config's figures, and its proxies, else those of `HTTP_PROXY`,
 * `HTTPS_PROXY` (or `ALL_PROXY`) and `NO_PROXY`, in capital or small letters.
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
  if (http === undefined && https === undefined) return undefined;
  return defined({ http, https, noProxy: read("NO_PROXY") });
}

/** Entries of the list of hosts to reach directly that cannot be read. None where there is no proxy. */
export function unreadableNoProxy(
  config: NetworkConfig | undefined,
  environment: Environment,
): readonly string[] {
  return readNoProxy(networkOptions(config, environment).proxy?.noProxy ?? "").unreadable;
}

/** Examples of what such a list may hold. */
export const NO_PROXY_FORMS = "example.com, host:8080, 10.0.0.0/8, 10.* or fd00::1";

/** How `web_fetch` uses the network: the hosts the user allowed, and the proxies of the models' requests. */
export function webFetchOptions(config: ConfigFile, environment: Environment): WebFetchOptions {
  const { proxy } = networkOptions(config.network, environment);
  const proxyEnv = proxy && { HTTP_PROXY: proxy.http, HTTPS_PROXY: proxy.https, NO_PROXY: proxy.noProxy };
  return { privateHosts: config.webFetch?.privateHosts ?? [], proxyEnv };
}
