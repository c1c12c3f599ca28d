import { relative, sep } from "node:path";
import { NanoAgentError } from "../../core/base/errors.ts";
import { TrustedProject } from "../../permission/trust/trusted-project.ts";
import type { ConfigFile, PermissionConfig } from "./config-schema.ts";
import type { Environment } from "./env.ts";
import { variable } from "./env.ts";
import type { LoadedConfig } from "./load-config.ts";
import { networkVariables } from "./network-variables.ts";
import { splitProjectConfig } from "./project-config.ts";

/** Everything a configuration is merged from; what comes first wins. */
export interface ConfigLayers {
  readonly flags: ConfigFile;
  readonly environment: Environment;
  /** The project's files, in the order they override each other. */
  readonly project: readonly LoadedConfig[];
  readonly user: LoadedConfig | undefined;
  /** The working folder, links resolved: rules that the user keeps for it count. */
  readonly cwd?: string;
  /** What of the project may act. Default: nothing. */
  readonly projectTrust?: TrustedProject;
}

/** The settings in force. */
export interface EffectiveConfig {
  readonly values: ConfigFile;
  /** Where each value comes from, by dotted key: a flag, a variable or a file. Keys that nobody set are absent. */
  readonly sources: ReadonlyMap<string, string>;
  /** What was left out of project files, one sentence a file. */
  readonly notices: readonly string[];
}

/**
 * Merges flags, environment, project files and the user's file, in this order of precedence. `disallowedTools` and
 * `permissions` add up, so that no layer takes back what another one denies; `network`, `providers` and `mcpServers` merge by entry.
 *
 * A project's file is somebody else's text: what in it can act ({@link splitProjectConfig}) counts only where `projectTrust` admits it, and
 * is noted there otherwise. What no project may set is left out and named in `notices`.
 */
export function mergeConfig(layers: ConfigLayers): EffectiveConfig {
  const user = layers.user;
  const notices: string[] = [];
  const merged = new Merged();
  if (user !== undefined) {
    const { folders = {}, ...config } = user.config;
    merged.add(config, user.path);
    const { cwd = "" } = layers;
    if (Object.hasOwn(folders, cwd)) merged.add({ ...folders[cwd] }, user.path);
  }
  const trust = layers.projectTrust ?? new TrustedProject({ folder: "" });
  for (const { path, config } of layers.project) {
    const shown = relative(trust.folder, path).split(sep).join("/");
    const { plain, acting, never } = splitProjectConfig(shown, config, user?.config ?? {});
    if (never.length > 0) notices.push(notice(path, never));
    merged.add(plain, path);
    for (const each of acting) if (trust.admits(each.item)) merged.add(each.config, path);
  }
  merged.addEnvironment(layers.environment);
  merged.add(layers.flags, "command line");
  return { values: merged.values, sources: merged.sources, notices };
}

type Mutable = { -readonly [K in keyof ConfigFile]: ConfigFile[K] };

class Merged {
  readonly values: Mutable = {};
  readonly sources = new Map<string, string>();

  add(config: ConfigFile, source: string): void {
    const { $schema: _schema, network, providers, disallowedTools, permissions, ...others } = config;
    const { environment, sandbox, hooks, mcpServers, ...plain } = others;
    this.#addLists("environment", environment, source);
    this.#addLists("sandbox", sandbox, source);
    this.#addLists("hooks", hooks, source);
    for (const key of Object.keys(plain)) this.sources.set(key, source);
    Object.assign(this.values, plain);
    if (disallowedTools !== undefined) {
      this.values.disallowedTools = [...(this.values.disallowedTools ?? []), ...disallowedTools];
      const before = this.sources.get("disallowedTools");
      this.sources.set("disallowedTools", before === undefined ? source : `${before} + ${source}`);
    }
    for (const action of ["allow", "ask", "deny"] as const)
      this.#addRules(action, permissions?.[action], source);
    this.#addEntries("network", network, source);
    this.#addEntries("providers", providers, source);
    this.#addEntries("mcpServers", mcpServers, source);
  }

  #addEntries<K extends "network" | "providers" | "mcpServers">(
    key: K,
    added: ConfigFile[K],
    source: string,
  ): void {
    if (added === undefined) return;
    for (const name of Object.keys(added)) this.sources.set(`${key}.${name}`, source);
    this.values[key] = { ...this.values[key], ...added };
  }

  /** Lists add up, everything else is replaced by entry. */
  #addLists<K extends "environment" | "sandbox" | "hooks">(
    key: K,
    added: ConfigFile[K],
    source: string,
  ): void {
    if (added === undefined) return;
    const before: { readonly [name: string]: unknown } = { ...this.values[key] };
    const merged = Object.entries(added).map(([name, value]: [string, unknown]) => {
      const path = `${key}.${name}`;
      const known = this.sources.get(path);
      const old = before[name];
      const joins = Array.isArray(old) && Array.isArray(value);
      this.sources.set(path, joins && known !== undefined ? `${known} + ${source}` : source);
      return [name, joins ? [...old, ...value] : value];
    });
    this.values[key] = { ...before, ...Object.fromEntries(merged) };
  }

  #addRules(action: keyof PermissionConfig, rules: readonly string[] | undefined, source: string): void {
    if (rules === undefined) return;
    const before = this.values.permissions?.[action] ?? [];
    this.values.permissions = { ...this.values.permissions, [action]: [...before, ...rules] };
    const key = `permissions.${action}`;
    const known = this.sources.get(key);
    this.sources.set(key, known === undefined ? source : `${known} + ${source}`);
  }

  addEnvironment(environment: Environment): void {
    const model = variable(environment, "NANO_AGENT_MODEL");
    if (model !== undefined) {
      this.values.model = model;
      this.sources.set("model", "NANO_AGENT_MODEL");
    }
    const toolCalls = variable(environment, "NANO_AGENT_TOOL_CALLS");
    if (toolCalls !== undefined) {
      if (toolCalls !== "text" && toolCalls !== "native")
        throw new NanoAgentError(
          "invalid_config",
          `NANO_AGENT_TOOL_CALLS is ${JSON.stringify(toolCalls)}. It must be native or text.`,
        );
      this.values.toolCalls = toolCalls;
      this.sources.set("toolCalls", "NANO_AGENT_TOOL_CALLS");
    }
    const network = networkVariables(environment);
    for (const { key, name } of network.set) this.sources.set(`network.${key}`, name);
    if (network.set.length > 0) this.values.network = { ...this.values.network, ...network.values };
  }
}

function notice(path: string, dropped: readonly string[]): string {
  const them = dropped.length === 1 ? "it" : "them";
  return `${path}: left out ${dropped.join(", ")}. No project may set ${them}; put ${them} in your own config file or on the command line.`;
}
