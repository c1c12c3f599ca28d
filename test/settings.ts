import type { ConfigFile } from "../src/coding/settings/config-schema.ts";
import { userPaths } from "../src/coding/settings/paths.ts";
import { mergeConfig, type Settings } from "../src/coding/settings/settings.ts";

/** The settings of a folder that is also the home of its user, as options of the command give them. */
export function settingsIn(
  cwd: string,
  flags: ConfigFile = {},
): Pick<Settings, "config" | "cwd" | "paths" | "environment"> {
  const environment = { HOME: cwd };
  const config = mergeConfig({ flags, environment, project: [], user: undefined });
  return { config, cwd, paths: userPaths(environment), environment };
}
