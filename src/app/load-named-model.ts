import type { Model } from "../core/model/model.ts";
import { resolveModel } from "../providers/resolve-model.ts";
import { liveEnvironment, variable } from "./config/env.ts";
import { networkVariables } from "./config/network-settings.ts";
import { networkOptions } from "./network-options.ts";
import { sharedTransport } from "./shared-transport.ts";

/** The model of a name, with credentials and network settings from the environment as it is now. Throws `missing_credentials`. */
export async function loadNamedModel(name: string): Promise<Model> {
  const environment = liveEnvironment();
  const network = networkOptions(networkVariables(environment), environment);
  return resolveModel(name, {
    env: (each) => variable(environment, each),
    network,
    transport: sharedTransport(network),
  });
}
