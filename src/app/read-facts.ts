import type { ModelInfo } from "../core/model/model.ts";
import { PRESETS, presetNamed } from "../providers/catalog.ts";
import { isLoopback } from "../providers/http.ts";
import { variable } from "./config/env.ts";
import type { LocalServerOptions } from "./local-servers.ts";

/**
 * The facts the server of a local model tells about it. Whoever names another model loads nothing and asks
 * nobody: asked are the local presets wherever they stand, and `custom` and the user's own providers where
 * they stand on this machine.
 */
export async function readFacts(name: string, options: LocalServerOptions): Promise<ModelInfo | undefined> {
  const provider = name.slice(0, Math.max(0, name.indexOf("/")));
  if (!isLocalPreset(provider) && !isOwnHere(provider, options)) return undefined;
  const { localModelFacts } = await import("./local-servers.ts");
  return localModelFacts(name, options);
}

function isLocalPreset(provider: string): boolean {
  const name = provider.toLowerCase();
  return PRESETS.some((preset) => preset.name === name && preset.local === true && preset.baseUrl !== "");
}

function isOwnHere(provider: string, { config, environment }: LocalServerOptions): boolean {
  const isCustom = provider.toLowerCase() === "custom";
  if (!isCustom && presetNamed(provider) !== undefined) return false;
  const given = config.providers?.[provider]?.baseUrl;
  const url = given ?? (isCustom ? variable(environment, "CUSTOM_BASE_URL") : undefined);
  return isLoopback(URL.parse(url ?? "")?.hostname ?? "");
}
