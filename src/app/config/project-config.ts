import { canonicalJson } from "../../core/base/json.ts";
import { contentHash, type TrustItem } from "../../permission/trust/trust-item.ts";
import { PRESETS, standardVariables } from "../../providers/catalog.ts";
import { mcpServerItem } from "../trust/acting-files.ts";
import type { ConfigFile, ProviderConfig } from "./config-schema.ts";
import { parseDuration } from "./duration.ts";
import { isWiderMode } from "./permission-mode.ts";

/** A config file of a project, by what its settings may do. */
export interface ProjectConfig {
  /** Narrows, or only says what to work with: counts always. */
  readonly plain: ConfigFile;
  /** Counts once the user has approved exactly this content. */
  readonly acting: readonly ActingSetting[];
  /** Keys that no project may set, trusted or not. */
  readonly never: readonly string[];
}

/** A setting that can act, and what trusting it adds. */
export interface ActingSetting {
  readonly item: TrustItem;
  readonly config: ConfigFile;
}

/**
 * What commands see and reach, what is taken out of results, where telemetry goes, what is remembered, the guard against loops, undo, and rules
 * of other folders: the user's own, trusted or not.
 */
const USERS_OWN = [
  "environment",
  "redact",
  "sandbox",
  "openTelemetry",
  "memory",
  "loopGuard",
  "undo",
  "undoLimits",
  "folders",
] as const;

type Mutable = { -readonly [K in keyof ConfigFile]: ConfigFile[K] };

/**
 * Takes a project's config file apart. `path` is that of the file relative to the project's folder. Even trusted, a project can not: set
 * permissions aside (`bypassPermissions`), touch the sandbox, the environment of commands, memory or telemetry, name the user's proxies, raise limits the user set, speak for other folders, or change where a
 * provider that the package or the user knows is reached, or which of the user's variables is sent to an address of its own.
 */
export function splitProjectConfig(path: string, config: ConfigFile, user: ConfigFile): ProjectConfig {
  const plain: Mutable = { ...config };
  const acting: ActingSetting[] = [];
  const never: string[] = [];
  const act = (key: string, value: unknown, setting: { does: string; config: ConfigFile }): void => {
    const item: TrustItem = {
      kind: "config",
      path: `${path}#${key}`,
      hash: contentHash(canonicalJson(value)),
      does: setting.does,
    };
    acting.push({ item, config: setting.config });
  };
  for (const key of USERS_OWN) {
    if (plain[key] === undefined) continue;
    delete plain[key];
    never.push(key);
  }
  splitMode(plain, user, { act, never });
  splitRules(plain, act);
  const { providers = {}, mcpServers = {}, ...withoutProviders } = plain;
  for (const [name, server] of Object.entries(mcpServers))
    acting.push({
      item: mcpServerItem(`${path}#mcpServers.${name}`, server),
      config: { mcpServers: { [name]: server } },
    });
  for (const [name, provider] of Object.entries(providers)) {
    const fault = providerFault(name, provider, user);
    if (fault) never.push(`providers.${name}`);
    else
      act(`providers.${name}`, provider, {
        does: providerDoes(name, provider),
        config: { providers: { [name]: provider } },
      });
  }
  const { network, ...rest } = withoutProviders;
  if (network?.proxy !== undefined) never.push("network.proxy");
  const { proxy: _proxy, ...figures } = network ?? {};
  const kept: Mutable = network === undefined ? rest : { ...rest, network: figures };
  dropLimits(kept, user, never);
  return { plain: kept, acting, never };
}

type Act = (key: string, value: unknown, setting: { does: string; config: ConfigFile }) => void;

function splitMode(
  plain: Mutable,
  user: ConfigFile,
  { act, never }: { readonly act: Act; readonly never: string[] },
): void {
  const { permissionMode } = plain;
  if (permissionMode === undefined || !isWiderMode(permissionMode, user.permissionMode ?? "default")) return;
  delete plain.permissionMode;
  if (permissionMode === "bypassPermissions") never.push("permissionMode");
  else
    act("permissionMode", permissionMode, {
      does: `runs in the mode ${permissionMode}`,
      config: { permissionMode },
    });
}

function splitRules(plain: Mutable, act: Act): void {
  const { allowedTools, permissions, webFetch } = plain;
  if (webFetch !== undefined) {
    delete plain.webFetch;
    const hosts = webFetch.privateHosts ?? [];
    act("webFetch", webFetch, { does: `lets web_fetch reach ${hosts.join(", ")}`, config: { webFetch } });
  }
  if (allowedTools !== undefined) {
    delete plain.allowedTools;
    act("allowedTools", allowedTools, {
      does: `lets run without a question: ${allowedTools.join(", ")}`,
      config: { allowedTools },
    });
  }
  if (permissions?.allow === undefined) return;
  const { allow, ...others } = permissions;
  plain.permissions = others;
  act("permissions.allow", allow, {
    does: `lets run without a question: ${allow.join(", ")}`,
    config: { permissions: { allow } },
  });
}

/** Whether a provider of a project could send what is the user's to an address of the project. */
function providerFault(name: string, { apiKeyEnv }: ProviderConfig, user: ConfigFile): boolean {
  const isKnown = PRESETS.some((preset) => preset.name === name || preset.aliases?.includes(name) === true);
  if (isKnown || Object.hasOwn(user.providers ?? {}, name)) return true;
  const own = standardVariables(name).key;
  const taken = PRESETS.flatMap(({ keyVariables, tokenVariables = [] }) => [
    ...keyVariables,
    ...tokenVariables,
  ]);
  const users = Object.entries(user.providers ?? {}).map(
    ([each, { apiKeyEnv: variable }]) => variable ?? standardVariables(each).key,
  );
  return (apiKeyEnv ?? own) !== own || [...taken, ...users].includes(own);
}

function providerDoes(name: string, { baseUrl, apiKeyEnv }: ProviderConfig): string {
  const key = apiKeyEnv ?? standardVariables(name).key;
  return `sends prompts for ${name}/… to ${baseUrl ?? "an address of your environment"}, with the key in ${key} where it is set`;
}

function dropLimits(config: Mutable, user: ConfigFile, never: string[]): void {
  const drop = (key: "maxTurns" | "maxBudgetUsd" | "maxWallTime"): void => {
    delete config[key];
    never.push(key);
  };
  if (isAbove(config.maxTurns, user.maxTurns)) drop("maxTurns");
  if (isAbove(config.maxBudgetUsd, user.maxBudgetUsd)) drop("maxBudgetUsd");
  if (isAbove(milliseconds(config.maxWallTime), milliseconds(user.maxWallTime))) drop("maxWallTime");
}

function isAbove(value: number | undefined, limit: number | undefined): boolean {
  return value !== undefined && limit !== undefined && value > limit;
}

function milliseconds(time: string | undefined): number | undefined {
  return time === undefined ? undefined : parseDuration(time);
}
