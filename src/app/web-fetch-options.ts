import type { WebFetchOptions } from "../tools/web-fetch-tool.ts";
import type { ConfigFile } from "./config/config-schema.ts";
import type { Environment } from "./config/env.ts";
import { networkOptions } from "./network-options.ts";

/** How `web_fetch` uses the network: the hosts the user allowed, and the proxies of the models' requests. */
export function webFetchOptions(config: ConfigFile, environment: Environment): WebFetchOptions {
  const { proxy } = networkOptions(config.network, environment);
  return {
    privateHosts: config.webFetch?.privateHosts ?? [],
    ...(proxy === undefined
      ? {}
      : { proxyEnv: { HTTP_PROXY: proxy.http, HTTPS_PROXY: proxy.https, NO_PROXY: proxy.noProxy } }),
  };
}
