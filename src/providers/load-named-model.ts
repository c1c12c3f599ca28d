import type { Model } from "../core/model/model.ts";
import { liveEnvironment, variable } from "../system/env.ts";
import type { NetworkOptions } from "./network.ts";
import { networkOptions, networkVariables } from "./network-options.ts";
import { resolveModel } from "./resolve-model.ts";
import { createTransport, type Transport } from "./transport.ts";

/** Resolves a model name with the environment's credentials and settings. Throws `missing_credentials`. */
export async function loadNamedModel(name: string): Promise<Model> {
  const environment = liveEnvironment();
  const network = networkOptions(networkVariables(environment), environment);
  return resolveModel(name, {
    env: (each) => variable(environment, each),
    network,
    transport: sharedTransport(network),
  });
}

/** Open connections by their settings: a cache, like the one behind the global `fetch`. */
const TRANSPORTS: Map<string, Transport> = new Map();

/**
 * The transport shared by all named models of this process with the same settings, so that a new agent does
 * not start with a TLS handshake. Idle connections keep no process alive.
 */
function sharedTransport(network: NetworkOptions): Transport {
  const key = JSON.stringify(network);
  const known = TRANSPORTS.get(key);
  if (known !== undefined) return known;
  const transport = createTransport(network);
  TRANSPORTS.set(key, transport);
  return transport;
}
