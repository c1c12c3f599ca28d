import { TrustedProject } from "../../permission/trusted-project.ts";
import type { Environment } from "../../system/env.ts";
import { projectPath } from "../project/project-files.ts";
import type { ConfigFile } from "./config-schema.ts";
import type { LoadedConfig } from "./load-config.ts";
import { splitProjectConfig } from "./project-config.ts";
import { readVariables, withSetting } from "./setting.ts";
import { PLACED_SETTINGS, SETTINGS } from "./setting-table.ts";

/** Everything a configuration is merged from; what comes first wins. */
export interface ConfigLayers {
  readonly flags: ConfigFile;
  readonly environment: Environment;
  readonly project: readonly LoadedConfig[];
  readonly user: LoadedConfig | undefined;
  /** The working folder, links resolved: rules that the user keeps for it count. */
  readonly cwd?: string;
  /** The parts of the project that may act. Default: nothing. */
  readonly projectTrust?: TrustedProject;
}

/** The settings in force. */
export interface EffectiveConfig {
  readonly values: ConfigFile;
  /** Where each value comes from, by dotted key: a flag, a variable or a file. Unset keys are absent. */
  readonly sources: ReadonlyMap<string, string>;
  /** Settings left out of project files, one sentence a file. */
  readonly notices: readonly string[];
}

/**
 * Merges flags, environment, project files and the user's file, in this order of precedence.
 * `disallowedTools` and `permissions` add up, so that no layer takes back what another one denies; `network`,
 * `providers` and `mcpServers` merge by entry.
 *
 * A project's file is somebody else's text: what in it can act ({@link splitProjectConfig}) counts only where
 * `projectTrust` admits it, and is noted there otherwise. What no project may set is left out and named in
 * `notices`.
 */
export function mergeConfig(layers: ConfigLayers): EffectiveConfig {
  const user = layers.user;
  const notices: string[] = [];
  const merged = new ConfigMerge();
  if (user !== undefined) {
    const { folders = {}, ...config } = user.config;
    merged.add(config, user.path);
    const { cwd = "" } = layers;
    if (Object.hasOwn(folders, cwd)) merged.add({ ...folders[cwd] }, user.path);
  }
  const trust = layers.projectTrust ?? new TrustedProject("");
  for (const { path, config } of layers.project) {
    const shown = projectPath(trust.folder, path);
    const { plain, acting, never } = splitProjectConfig(shown, config, user?.config ?? {});
    if (never.length > 0) notices.push(notice(path, never));
    merged.add(plain, path);
    for (const each of acting) if (trust.admits(each.item)) merged.add(each.config, path);
  }
  merged.addEnvironment(layers.environment);
  merged.add(layers.flags, "command line");
  return { values: merged.values, sources: merged.sources, notices };
}

class ConfigMerge {
  readonly values: { [key: string]: unknown } & ConfigFile = {};
  readonly sources = new Map<string, string>();

  add(config: ConfigFile, source: string): void {
    for (const [key, value] of Object.entries(config)) {
      const { layers } = SETTINGS[key as keyof ConfigFile];
      if (key === "$schema" || value === undefined) continue;
      if (layers === "by entry") this.values[key] = this.#joined(key, value, source);
      else this.values[key] = this.#put(key, [this.values[key], value], { source, adds: layers === "adds" });
    }
  }

  /** An object over the one before: entries replace entries, and lists in them are put together. */
  #joined(key: string, added: object, source: string): object {
    const before: { readonly [name: string]: unknown } = { ...(this.values[key] as object | undefined) };
    const entries = Object.entries(added).map(([name, value]: [string, unknown]) => [
      name,
      this.#put(`${key}.${name}`, [before[name], value], { source, adds: true }),
    ]);
    return { ...before, ...Object.fromEntries(entries) };
  }

  /** The newer of two values, or both lists where they are to be put together; keeps where it comes from. */
  #put(
    path: string,
    [old, value]: readonly [unknown, unknown],
    { source, adds }: { readonly source: string; readonly adds: boolean },
  ): unknown {
    const known = this.sources.get(path);
    const joins = adds && Array.isArray(old) && Array.isArray(value);
    this.sources.set(path, joins && known !== undefined ? `${known} + ${source}` : source);
    return joins ? [...old, ...value] : value;
  }

  addEnvironment(environment: Environment): void {
    for (const { path, value, name } of readVariables(PLACED_SETTINGS, environment))
      this.add(withSetting({}, path, value), name);
  }
}

function notice(path: string, dropped: readonly string[]): string {
  const them = dropped.length === 1 ? "it" : "them";
  return `${path}: left out ${dropped.join(", ")}. No project may set ${them}; put ${them} in your own config file or on the command line.`;
}
