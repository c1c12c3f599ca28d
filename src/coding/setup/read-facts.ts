import type { ModelInfo } from "../../core/model/model.ts";
import { presetNamed } from "../../providers/catalog.ts";
import { isLoopback } from "../../providers/http.ts";
import type { LocalServerOptions } from "./local-servers.ts";
import { providerAddress } from "./provider-address.ts";

/**
 * The facts the server of a local model tells about it. Whoever names another model loads nothing and asks
 * nobody: asked are the local presets wherever they stand, and providers of the user's own where their
 * address is one of this machine.
 */
export async function readFacts(name: string, options: LocalServerOptions): Promise<ModelInfo | undefined> {
  const provider = name.slice(0, Math.max(0, name.indexOf("/")));
  const address = providerAddress(provider, options);
  const preset = presetNamed(provider.toLowerCase());
  const isOwn = preset === undefined || preset.baseUrl === "";
  const isAsked = isOwn ? isHere(address ?? "") : preset.local === true;
  if (address === undefined || !isAsked) return undefined;
  const { localModelFacts } = await import("./local-servers.ts");
  return localModelFacts(name, options);
}

function isHere(address: string): boolean {
  return isLoopback(URL.parse(address)?.hostname ?? "");
}
