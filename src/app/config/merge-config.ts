import type { ConfigFile, PermissionConfig } from "./config-schema.ts";
import { parseDuration } from "./duration.ts";
import type { Environment } from "./env.ts";
import { variable } from "./env.ts";
import type { LoadedConfig } from "./load-config.ts";
import { networkVariables } from "./network-variables.ts";
import { isWiderMode, type PermissionMode } from "./permission-mode.ts";

/** Everything a configuration is merged from; what comes first wins. */
export interface ConfigLayers {
  readonly flags: ConfigFile;
  readonly environment: Environment;
  /** The project's files, in the order they override each other. */
  readonly project: readonly LoadedConfig[];
  readonly user: LoadedConfig | undefined;
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
 * `permissions` add up, so that no layer takes back what another one denies; `network` and `providers` merge by entry.
 *
 * A project's file is somebody else's text until it is trusted: it may not set where requests go (`providers`, `network.proxy`, `webFetch`), allow
 * tools or calls, choose what commands see or reach (`environment`, `redact`, `sandbox`), what is remembered (`memory`),
 * change the guard against loops, switch undo off, or widen the permission mode or a limit that the user set. Such values are left out and named in `notices`.
 */
export function mergeConfig(layers: ConfigLayers): EffectiveConfig {
  const user = layers.user;
  const notices: string[] = [];
  const merged = new Merged();
  if (user !== undefined) merged.add(user.config, user.path);
  for (const { path, config } of layers.project) {
    const { kept, dropped } = withoutWidening(config, user?.config ?? {});
    if (dropped.length > 0) notices.push(notice(path, dropped));
    merged.add(kept, path);
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
    const { environment, sandbox, ...plain } = others;
    this.#addLists("environment", environment, source);
    this.#addLists("sandbox", sandbox, source);
    for (const key of Object.keys(plain)) this.sources.set(key, source);
    Object.assign(this.values, plain);
    if (disallowedTools !== undefined) {
      this.values.disallowedTools = [...(this.values.disallowedTools ?? []), ...disallowedTools];
      const before = this.sources.get("disallowedTools");
      this.sources.set("disallowedTools", before === undefined ? source : `${before} + ${source}`);
    }
    for (const action of ["allow", "ask", "deny"] as const)
      this.#addRules(action, permissions?.[action], source);
    for (const key of Object.keys(network ?? {})) this.sources.set(`network.${key}`, source);
    if (network !== undefined) this.values.network = { ...this.values.network, ...network };
    for (const name of Object.keys(providers ?? {})) this.sources.set(`providers.${name}`, source);
    if (providers !== undefined) this.values.providers = { ...this.values.providers, ...providers };
  }

  /** Lists add up, everything else is replaced by entry. */
  #addLists<K extends "environment" | "sandbox">(key: K, added: ConfigFile[K], source: string): void {
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
    const network = networkVariables(environment);
    for (const { key, name } of network.set) this.sources.set(`network.${key}`, name);
    if (network.set.length > 0) this.values.network = { ...this.values.network, ...network.values };
  }
}

interface Narrowed {
  readonly kept: ConfigFile;
  readonly dropped: readonly string[];
}

/** Settings that count in the user's own file and on the command line alone. */
const USERS_OWN = [
  "providers",
  "environment",
  "redact",
  "sandbox",
  "allowedTools",
  "webFetch",
  "undo",
  "undoLimits",
  "openTelemetry",
  "memory",
] as const;

function withoutWidening(config: ConfigFile, user: ConfigFile): Narrowed {
  const kept: Mutable = { ...config };
  const dropped: string[] = [];
  const drop = (key: keyof ConfigFile): void => {
    delete kept[key];
    dropped.push(key);
  };
  for (const key of USERS_OWN) if (config[key] !== undefined) drop(key);
  if (config.permissions?.allow !== undefined) {
    const { allow: _allow, ...rest } = config.permissions;
    kept.permissions = rest;
    dropped.push("permissions.allow");
  }
  const mode: PermissionMode = user.permissionMode ?? "default";
  if (config.permissionMode !== undefined && isWiderMode(config.permissionMode, mode)) drop("permissionMode");
  if (isAbove(config.maxTurns, user.maxTurns)) drop("maxTurns");
  if (isAbove(config.maxBudgetUsd, user.maxBudgetUsd)) drop("maxBudgetUsd");
  if (isAbove(milliseconds(config.maxWallTime), milliseconds(user.maxWallTime))) drop("maxWallTime");
  if (config.loopGuard !== undefined) drop("loopGuard");
  if (config.network?.proxy !== undefined) {
    const { proxy: _proxy, ...network } = config.network;
    kept.network = network;
    dropped.push("network.proxy");
  }
  return { kept, dropped };
}

function isAbove(value: number | undefined, limit: number | undefined): boolean {
  return value !== undefined && limit !== undefined && value > limit;
}

function milliseconds(time: string | undefined): number | undefined {
  return time === undefined ? undefined : parseDuration(time);
}

function notice(path: string, dropped: readonly string[]): string {
  return `${path}: left out ${dropped.join(", ")}. A project may not set ${dropped.length === 1 ? "it" : "them"}; put ${dropped.length === 1 ? "it" : "them"} in your own config file or on the command line.`;
}
