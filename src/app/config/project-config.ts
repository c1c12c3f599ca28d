import { canonicalJson } from "../../core/base/json.ts";
import { readHooks } from "../../extensions/command-hooks/read-hooks.ts";
import { contentHash, type TrustItem } from "../../permission/trust/trust-item.ts";
import { PRESETS, standardVariables } from "../../providers/catalog.ts";
import { mcpServerItem } from "../trust/acting-files.ts";
import type { ConfigFile, ProviderConfig } from "./config-schema.ts";
import { parseDuration } from "./duration.ts";
import { isWiderMode } from "./permission-mode.ts";

/** A config file of a project, by what its settings may do. */
export interface ProjectConfig {
  /** Can only tighten: counts always. */
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

/** What becomes of a setting, or of a part of it. */
type Part =
  | { readonly tightens: ConfigFile }
  | {
      readonly waits: string;
      readonly value: unknown;
      readonly does: string;
      readonly config: ConfigFile;
      /** Default: a setting. */
      readonly kind?: TrustItem["kind"];
    }
  | { readonly never: string };

type Key = keyof ConfigFile;
type Rule<K extends Key> = (value: NonNullable<ConfigFile[K]>, user: ConfigFile) => readonly Part[];

type Rules = { readonly [K in Key]: Rule<K> };

/** Calls of one answer that are run where nobody says otherwise. */
const MAX_CALLS = 128;
/** Characters of a text that are shown of what it tells the model. */
const MAX_SHOWN = 160;

/**
 * What a project may say by itself is a closed list: what can only tighten. Everything else waits until the user has seen it, for it changes
 * where the conversation goes, what the model is told, what it can do or what that costs; or it is the user's own, trusted or not.
 */
const RULES: Rules = {
  $schema: () => [],
  // How the screen looks and what its keys do is the user's own.
  theme: () => [{ never: "theme" }],
  notifications: () => [{ never: "notifications" }],
  keys: () => [{ never: "keys" }],
  disallowedTools: (value) => [{ tightens: { disallowedTools: value } }],
  permissionMode: (permissionMode, user) => {
    if (!isWiderMode(permissionMode, user.permissionMode ?? "default"))
      return [{ tightens: { permissionMode } }];
    return permissionMode === "bypassPermissions"
      ? [{ never: "permissionMode" }]
      : waiting("permissionMode", permissionMode, `runs in the mode ${permissionMode}`);
  },
  permissions: ({ allow, ...permissions }) => [
    ...(Object.keys(permissions).length === 0 ? [] : [{ tightens: { permissions } }]),
    ...(allow === undefined
      ? []
      : [
          { ...allowed(allow), waits: "permissions.allow", value: allow, config: { permissions: { allow } } },
        ]),
  ],
  maxTurns: (value, user) => limit("maxTurns", value, isAbove(value, user.maxTurns)),
  maxBudgetUsd: (value, user) => limit("maxBudgetUsd", value, isAbove(value, user.maxBudgetUsd)),
  maxWallTime: (value, user) =>
    limit("maxWallTime", value, isAbove(milliseconds(value), milliseconds(user.maxWallTime))),

  maxCallsPerAnswer: (value, user) =>
    isAbove(value, user.maxCallsPerAnswer ?? MAX_CALLS)
      ? waiting("maxCallsPerAnswer", value, `lets one answer make ${value} calls`)
      : [{ tightens: { maxCallsPerAnswer: value } }],
  toolCalls: (value) => waiting("toolCalls", value, `has the model write its calls as ${value}`),
  model: (value) => waiting("model", value, `sends the conversation to ${value}`),
  fallbackModels: (value) =>
    waiting("fallbackModels", value, `sends the conversation to ${value.join(", ")} where the model fails`),
  providers: (providers, user) =>
    Object.entries(providers).map(([name, provider]) => providerPart(name, provider, user)),
  network: ({ proxy, ...network }) => [
    ...(proxy === undefined ? [] : [{ never: "network.proxy" }]),
    ...(Object.keys(network).length === 0
      ? []
      : waiting("network", network, `changes waits and repeated requests: ${shown(network)}`)),
  ],
  systemPrompt: (value) =>
    waiting("systemPrompt", value, `tells the model, in place of the usual: ${shown(value)}`),
  appendSystemPrompt: (value) => waiting("appendSystemPrompt", value, `tells the model: ${shown(value)}`),
  pattern: (value) => waiting("pattern", value, `works in the pattern ${value}`),
  extraTools: (value) => waiting("extraTools", value, `gives the model ${value.join(", ")}`),
  compaction: (value) =>
    waiting("compaction", value, `changes when older messages are left out: ${shown(value)}`),
  allowedTools: (value) => waiting("allowedTools", value, allowed(value).does),
  webFetch: (value) =>
    waiting("webFetch", value, `lets web_fetch reach ${(value.privateHosts ?? []).join(", ")}`),

  hooks: (value) =>
    Object.entries(value).map(([event, groups]) => ({
      kind: "hook",
      waits: event,
      value: groups,
      does: hooksDo(event, groups),
      config: { hooks: { [event]: groups } },
    })),

  extensions: users("extensions"),
  mcpServers: (servers) => Object.entries(servers).map(([name, server]) => serverPart(name, server)),
  mcp: (value) => waiting("mcp", value, `changes which tools of MCP servers are shown: ${shown(value)}`),

  environment: users("environment"),
  redact: users("redact"),
  sandbox: users("sandbox"),
  openTelemetry: users("openTelemetry"),
  memory: users("memory"),
  loopGuard: users("loopGuard"),
  undo: users("undo"),
  undoLimits: users("undoLimits"),
  folders: users("folders"),
};

/**
 * Takes a project's config file apart. `path` is that of the file relative to the project's folder. Even trusted, a project can not: set
 * permissions aside (`bypassPermissions`), touch the sandbox, the environment of commands, memory or telemetry, name the user's proxies, raise limits the user set, speak for other folders, or change where a
 * provider that the package or the user knows is reached, or which of the user's variables is sent to an address of its own.
 */
export function splitProjectConfig(path: string, config: ConfigFile, user: ConfigFile): ProjectConfig {
  const parts = (Object.keys(RULES) as readonly Key[]).flatMap((key) => partsOf(key, config, user));
  const plain: ConfigFile = Object.assign(
    {},
    ...parts.map((part) => ("tightens" in part ? part.tightens : {})),
  );
  return {
    plain,
    acting: parts.flatMap((part) => ("waits" in part ? [actingSetting(path, part)] : [])),
    never: parts.flatMap((part) => ("never" in part ? [part.never] : [])),
  };
}

function partsOf(key: Key, config: ConfigFile, user: ConfigFile): readonly Part[] {
  const value = config[key];
  // Each rule is asked about the value of its own key.
  const rule: (value: never, user: ConfigFile) => readonly Part[] = RULES[key];
  return value === undefined ? [] : rule(value as never, user);
}

function actingSetting(path: string, part: Extract<Part, { waits: string }>): ActingSetting {
  const { waits, value, does, config, kind = "config" } = part;
  return {
    item: { kind, path: `${path}#${waits}`, hash: contentHash(canonicalJson(value)), does },
    config,
  };
}

function waiting<K extends Key>(key: K, value: ConfigFile[K], does: string): readonly Part[] {
  return [{ waits: key, value, does, config: { [key]: value } }];
}

function users(key: Key): () => readonly Part[] {
  return () => [{ never: key }];
}

function limit<K extends Key>(key: K, value: ConfigFile[K], isRaised: boolean): readonly Part[] {
  return [isRaised ? { never: key } : { tightens: { [key]: value } }];
}

function allowed(rules: readonly string[]): { readonly does: string } {
  return { does: `lets run without a question: ${rules.join(", ")}` };
}

function shown(value: unknown): string {
  const text = canonicalJson(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`;
}

function serverPart(name: string, server: unknown): Part {
  const key = `mcpServers.${name}`;
  const { kind, does } = mcpServerItem(key, server);
  return { waits: key, value: server, does, config: { mcpServers: { [name]: server } }, kind };
}

function providerPart(name: string, provider: ProviderConfig, user: ConfigFile): Part {
  const key = `providers.${name}`;
  if (providerFault(name, provider, user)) return { never: key };
  const config = { providers: { [name]: provider } };
  return { waits: key, value: provider, does: providerDoes(name, provider), config };
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

/** What the hooks of an event would run, malformed ones as they stand. */
function hooksDo(event: string, groups: unknown): string {
  const { hooks } = readHooks({ [event]: groups }, "");
  const runs = hooks.map(({ matcher, command }) =>
    matcher === undefined ? command : `${command} (for ${matcher})`,
  );
  return runs.length === 0 ? `has no hook that can run: ${shown(groups)}` : `runs ${runs.join("; ")}`;
}

function isAbove(value: number | undefined, limit: number | undefined): boolean {
  return value !== undefined && limit !== undefined && value > limit;
}

function milliseconds(time: string | undefined): number | undefined {
  return time === undefined ? undefined : parseDuration(time);
}
