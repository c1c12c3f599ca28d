import { canonicalJson } from "../../core/base/json.ts";
import type { Environment } from "../../system/env.ts";
import type { LeftOut } from "../../view/notice.ts";
import {
  contentHash,
  findActingFiles,
  openTrustedProject,
  projectPath,
  TrustedProject,
} from "../project/acting-files.ts";
import type { ConfigFile } from "./config-schema.ts";
import { type LoadedConfig, loadConfigFile, loadProjectConfig } from "./load-config.ts";
import { configPath, projectFolders, type UserPaths, userPaths } from "./paths.ts";
import type { Effect, ProjectRule } from "./project-rules.ts";
import { withSavedKeys } from "./saved-keys.ts";
import { parseDuration, readVariables, withSetting } from "./setting.ts";
import { PLACED_SETTINGS, SETTINGS } from "./setting-table.ts";

/** The command-line options for MCP servers. */
export interface McpSources {
  /** JSON or file names, in the given order. */
  readonly configs: readonly string[];
  /** More of them, which come first. `${NAME}` is literal in them: their author has filled in the values. */
  readonly literal?: readonly string[];
  /** True: only these count. */
  readonly strict: boolean;
}

export interface Settings {
  /** Includes the keys saved at that time. */
  readonly environment: Environment;
  /** The same, including keys saved since. */
  readonly freshEnvironment: () => Environment;
  readonly cwd: string;
  readonly paths: UserPaths;
  /** Folders whose files apply to the project, root first. */
  readonly folders: readonly string[];
  readonly config: EffectiveConfig;
  readonly trust: TrustedProject;
  readonly mcp?: McpSources | undefined;
}

/** Sources of settings, and the command-line values. */
export interface SettingsOptions {
  readonly environment: Environment;
  readonly cwd: string;
  readonly flags?: ConfigFile;
  readonly mcp?: McpSources | undefined;
  /** Folder for sessions. Default: in the user's state. */
  readonly historyFolder?: string | undefined;
}

/** Merges the settings that apply in a folder. Throws `invalid_config` for unusable files. */
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

/** Everything a configuration is merged from; earlier sources win. */
interface ConfigLayers {
  readonly flags: ConfigFile;
  readonly environment: Environment;
  readonly project: readonly LoadedConfig[];
  readonly user: LoadedConfig | undefined;
  /** The working folder, links resolved: the user's rules for it count. */
  readonly cwd?: string;
  /** The parts of the project that may act. Default: none. */
  readonly projectTrust?: TrustedProject;
}

interface EffectiveConfig {
  readonly values: ConfigFile;
  /** The source of each value, by dotted key: a flag, a variable or a file. Unset keys are absent. */
  readonly sources: ReadonlyMap<string, string>;
  /** Settings ignored in project files, one sentence per file. */
  readonly notices: readonly string[];
}

/**
 * Merges flags, environment, project files and the user's file, in this order of precedence. Parts of a
 * project's file that can act count only if `projectTrust` admits them.
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
    if (never.length > 0) notices.push(ignoredSettingsText(path, never));
    for (const each of plain) merged.add(each, path);
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
      if (key === "$schema" || value === undefined) continue;
      const { layers } = SETTINGS[key as keyof ConfigFile];
      if (layers === "by entry") {
        const before: { readonly [name: string]: unknown } = { ...(this.values[key] as object | undefined) };
        const entries = Object.entries(value).map(([name, entry]: [string, unknown]) => [
          name,
          this.#merge(`${key}.${name}`, before[name], entry, source, true),
        ]);
        this.values[key] = { ...before, ...Object.fromEntries(entries) };
      } else this.values[key] = this.#merge(key, this.values[key], value, source, layers === "adds");
    }
  }

  /** The newer of two values, or two lists concatenated if the setting `adds`; records the source. */
  #merge(path: string, old: unknown, value: unknown, source: string, adds: boolean): unknown {
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

function ignoredSettingsText(path: string, dropped: readonly string[]): string {
  const them = dropped.length === 1 ? "it" : "them";
  return `${path}: left out ${dropped.join(", ")}. No project may set ${them}; put ${them} in your own config file or on the command line.`;
}

interface ProjectConfig {
  /** Can only tighten: always counts. */
  readonly plain: readonly ConfigFile[];
  /** Counts once the user has approved exactly this content. */
  readonly acting: readonly ActingSetting[];
  readonly never: readonly string[];
}

interface ActingSetting {
  readonly item: LeftOut;
  readonly config: ConfigFile;
}

/**
 * Splits a project's config file by the effect its settings may have. Even a trusted project cannot weaken
 * permission, raise the user's limits, or redirect keys: see the project column of the table.
 */
export function splitProjectConfig(path: string, config: ConfigFile, user: ConfigFile): ProjectConfig {
  const plain: ConfigFile[] = [];
  const acting: ActingSetting[] = [];
  const never: string[] = [];
  for (const { key, value, config: own, effect } of partsOf(config, user))
    if (effect === "counts") plain.push(own);
    else if (effect === "never") never.push(key);
    else {
      const { does, kind = "config", path: name = key } = effect;
      const hash = contentHash(canonicalJson(value));
      acting.push({ item: { kind, path: `${path}#${name}`, hash, does }, config: own });
    }
  return { plain, acting, never };
}

interface ProjectPart {
  readonly key: string;
  readonly value: unknown;
  readonly config: ConfigFile;
  readonly effect: Effect;
}

/** The settings of a project's file in the order of the table, or their entries if those are judged. */
function partsOf(config: ConfigFile, user: ConfigFile): readonly ProjectPart[] {
  return (Object.keys(SETTINGS) as readonly (keyof ConfigFile)[]).flatMap((key): readonly ProjectPart[] => {
    const value = config[key];
    if (value === undefined) return [];
    // Each rule gets the value of its own key.
    const rule = SETTINGS[key].project as ProjectRule<{ readonly [name: string]: unknown }>;
    if (typeof rule === "object" && "each" in rule)
      return Object.entries(value).map(([name, entry]: [string, object]) => ({
        key: `${key}.${name}`,
        value: entry,
        config: { [key]: { [name]: entry } },
        effect: rule.each(name, entry, user),
      }));
    const own = { key, value, config: { [key]: value } };
    if (rule === "up to yours") return [{ ...own, effect: isAbove(value, user[key]) ? "never" : "counts" }];
    if (typeof rule === "string") return [{ ...own, effect: rule }];
    const effect = "waits" in rule ? { does: rule.waits(value as never) } : rule.judge(value as never, user);
    return [{ ...own, effect }];
  });
}

function isAbove(value: unknown, limit: unknown): boolean {
  return limit !== undefined && toNumber(value) > toNumber(limit);
}

function toNumber(limit: unknown): number {
  return typeof limit === "string" ? (parseDuration(limit) ?? Number.NaN) : Number(limit);
}

export interface ProjectItems {
  /** The folder approval is bound to: the root of the repository, else the working folder. */
  readonly folder: string;
  readonly items: readonly LeftOut[];
}

/** Everything in a folder's project that can act. Throws `invalid_config` for unusable config files. */
export async function findTrustItems(cwd: string, paths: UserPaths): Promise<ProjectItems> {
  const folders = projectFolders(cwd);
  const [folder = cwd] = folders;
  const user = (await loadConfigFile(configPath(paths)))?.config ?? {};
  const settings = (await loadProjectConfig(folders)).flatMap(({ path, config }) =>
    splitProjectConfig(projectPath(folder, path), config, user).acting.map(({ item }) => item),
  );
  return { folder, items: [...settings, ...(await findActingFiles(folder, folders))] };
}
