import type { TrustedProject } from "../../permission/trusted-project.ts";
import type { Environment } from "../../system/env.ts";
import { openTrustedProject } from "../project/trust-file.ts";
import type { ConfigFile } from "./config-schema.ts";
import { loadConfigFile, loadProjectConfig } from "./load-config.ts";
import { type EffectiveConfig, mergeConfig } from "./merge-config.ts";
import { configPath, projectFolders, type UserPaths, userPaths } from "./paths.ts";
import { withSavedKeys } from "./saved-keys.ts";

/** The words of the command line about MCP servers. */
export interface McpSources {
  /** JSON itself, or names of files, in the order they were given. */
  readonly configs: readonly string[];
  /** More of them, which come first and whose `${NAME}` is text: who wrote them has put the values in. */
  readonly literal?: readonly string[];
  /** Only these count. */
  readonly strict: boolean;
}

/** Everything that is settled before a model is chosen. */
export interface Settings {
  /** With the keys that were saved by then. */
  readonly environment: Environment;
  /** The same with those that have been saved since. */
  readonly freshEnvironment: () => Environment;
  readonly cwd: string;
  readonly paths: UserPaths;
  /** Folders whose files speak for the project, root first. */
  readonly folders: readonly string[];
  readonly config: EffectiveConfig;
  /** The parts of the project that may act. */
  readonly trust: TrustedProject;
  readonly mcp?: McpSources | undefined;
}

/** Where to look for settings, and what was said on the command line. */
export interface SettingsOptions {
  readonly environment: Environment;
  /** An existing folder, links resolved. */
  readonly cwd: string;
  readonly flags?: ConfigFile;
  readonly mcp?: McpSources | undefined;
  /** Where sessions are kept. Default: with the state of the user. */
  readonly historyFolder?: string | undefined;
}

/** Merges the settings that hold in a folder. Throws `invalid_config` for files that cannot be used. */
export async function loadSettings(options: SettingsOptions): Promise<Settings> {
  const { cwd, flags = {} } = options;
  const own = userPaths(options.environment);
  const paths = { ...own, historyFolder: options.historyFolder ?? own.historyFolder };
  const freshEnvironment = (): Environment => withSavedKeys(options.environment, paths);
  const environment = freshEnvironment();
  const folders = projectFolders(cwd);
  const user = await loadConfigFile(configPath(paths));
  const project = await loadProjectConfig(folders);
  const trust = openTrustedProject(folders[0] ?? cwd, paths);
  const config = mergeConfig({ flags, environment, project, user, cwd, projectTrust: trust });
  return { environment, freshEnvironment, cwd, paths, folders, config, trust, mcp: options.mcp };
}
