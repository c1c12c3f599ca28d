import { canonicalJson } from "../../core/base/json.ts";
import { readHooks } from "../../extensions/command-hooks/read-hooks.ts";
import { isWiderMode, type PermissionMode } from "../../permission/permission-mode.ts";
import { PRESETS, presetNamed, standardVariables } from "../../providers/catalog.ts";
import type { NetworkConfig } from "../../providers/network-options.ts";
import type { LeftOut } from "../../view/notice.ts";
import { mcpServerItem } from "../project/acting-files.ts";
import type { ConfigFile, PermissionConfig, ProviderConfig } from "./config-schema.ts";

/**
 * The effect of a setting in a project's file. `up to yours`: counts unless the user's limit is lower.
 * `waits`: counts once the user has trusted it. `parts`: decided part by part; `words` explains how.
 */
export type ProjectRule<V> =
  | "counts"
  | "up to yours"
  | "never"
  | { readonly waits: (value: V) => string }
  | { readonly parts: (value: V, user: ConfigFile) => readonly Part[]; readonly words: string };

export type Part =
  | { readonly tightens: ConfigFile }
  | {
      readonly waits: string;
      readonly value: unknown;
      readonly does: string;
      readonly config: ConfigFile;
      readonly kind?: LeftOut["kind"];
    }
  | { readonly never: string };

/** Default limit of calls per answer. */
const DEFAULT_MAX_CALLS = 128;
/** Characters of a value that are shown to the person. */
const MAX_VALUE_CHARS = 160;

export function shown(value: unknown): string {
  const text = canonicalJson(value);
  return text.length <= MAX_VALUE_CHARS
    ? text
    : `${text.slice(0, MAX_VALUE_CHARS)}… (${text.length} characters)`;
}

export function allows(rules: readonly string[]): string {
  return `lets run without a question: ${rules.join(", ")}`;
}

/** A mode narrower than the user's counts; a wider one waits. */
export function modeParts(permissionMode: PermissionMode, user: ConfigFile): readonly Part[] {
  const config = { permissionMode };
  if (!isWiderMode(permissionMode, user.permissionMode ?? "default")) return [{ tightens: config }];
  if (permissionMode === "bypassPermissions") return [{ never: "permissionMode" }];
  const does = `runs in the mode ${permissionMode}`;
  return [{ waits: "permissionMode", value: permissionMode, does, config }];
}

/** Ask and deny rules count; allow rules wait. */
export function permissionParts({ allow, ...permissions }: PermissionConfig): readonly Part[] {
  const tightens = Object.keys(permissions).length === 0 ? [] : [{ tightens: { permissions } }];
  if (allow === undefined) return tightens;
  const config = { permissions: { allow } };
  return [...tightens, { waits: "permissions.allow", value: allow, does: allows(allow), config }];
}

/** A value up to the user's, else 128, counts; a higher one waits. */
export function callParts(value: number, user: ConfigFile): readonly Part[] {
  const config = { maxCallsPerAnswer: value };
  if (value <= (user.maxCallsPerAnswer ?? DEFAULT_MAX_CALLS)) return [{ tightens: config }];
  return [{ waits: "maxCallsPerAnswer", value, does: `lets one answer make ${value} calls`, config }];
}

/** Delays and retries wait for trust; proxies are the user's own. */
export function networkParts({ proxy, ...network }: NetworkConfig): readonly Part[] {
  const never = proxy === undefined ? [] : [{ never: "network.proxy" }];
  if (Object.keys(network).length === 0) return never;
  const does = `changes waits and repeated requests: ${shown(network)}`;
  return [...never, { waits: "network", value: network, does, config: { network } }];
}

export function serverParts(servers: { readonly [name: string]: unknown }): readonly Part[] {
  return Object.entries(servers).map(([name, server]) => serverPart(name, server));
}

function serverPart(name: string, server: unknown): Part {
  const key = `mcpServers.${name}`;
  const { kind, does } = mcpServerItem(key, server);
  return { waits: key, value: server, does, config: { mcpServers: { [name]: server } }, kind };
}

export function providerParts(
  providers: { readonly [name: string]: ProviderConfig },
  user: ConfigFile,
): readonly Part[] {
  return Object.entries(providers).map(([name, provider]) => providerPart(name, provider, user));
}

function providerPart(name: string, provider: ProviderConfig, user: ConfigFile): Part {
  const key = `providers.${name}`;
  if (isProviderForbidden(name, provider, user)) return { never: key };
  const config = { providers: { [name]: provider } };
  return { waits: key, value: provider, does: providerEffect(name, provider), config };
}

/** True if a project's provider could send the user's data to an address of the project. */
function isProviderForbidden(name: string, { apiKeyEnv }: ProviderConfig, user: ConfigFile): boolean {
  if (presetNamed(name) !== undefined || Object.hasOwn(user.providers ?? {}, name)) return true;
  const own = standardVariables(name).key;
  return (apiKeyEnv ?? own) !== own || keyVariables(user).has(own);
}

/** The variables that hold model keys: those of known providers and of providers in some settings. */
export function keyVariables({ providers = {} }: Pick<ConfigFile, "providers">): ReadonlySet<string> {
  const known = PRESETS.flatMap((preset) => [...preset.keyVariables, ...(preset.tokenVariables ?? [])]);
  const users = Object.entries(providers).map(
    ([name, { apiKeyEnv }]) => apiKeyEnv ?? standardVariables(name).key,
  );
  return new Set([...known, ...users]);
}

function providerEffect(name: string, { baseUrl, apiKeyEnv }: ProviderConfig): string {
  const key = apiKeyEnv ?? standardVariables(name).key;
  return `sends prompts for ${name}/… to ${baseUrl ?? "an address of your environment"}, with the key in ${key} where it is set`;
}

export function hookParts(hooks: { readonly [event: string]: unknown }): readonly Part[] {
  return Object.entries(hooks).map(([event, groups]) => ({
    kind: "hook",
    waits: event,
    value: groups,
    does: hooksEffect(event, groups),
    config: { hooks: { [event]: groups } },
  }));
}

/** The commands the hooks of an event would run; malformed ones as written. */
function hooksEffect(event: string, groups: unknown): string {
  const { hooks } = readHooks({ [event]: groups }, "");
  const runs = hooks.map(({ matcher, command }) =>
    matcher === undefined ? command : `${command} (for ${matcher})`,
  );
  return runs.length === 0 ? `has no hook that can run: ${shown(groups)}` : `runs ${runs.join("; ")}`;
}
