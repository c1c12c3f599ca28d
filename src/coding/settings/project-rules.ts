import { canonicalJson } from "../../core/base/json.ts";
import { readHooks } from "../../extensions/command-hooks/read-hooks.ts";
import { isWiderMode, type PermissionMode } from "../../permission/permission-mode.ts";
import { PRESETS, presetNamed, standardVariables } from "../../providers/catalog.ts";
import type { LeftOut } from "../../view/notice.ts";
import type { ConfigFile, ProviderConfig } from "./config-schema.ts";

/** The effect of a setting, or of an entry in it. An object: it counts once the user has trusted it. */
export type Effect =
  | "counts"
  | "never"
  | { readonly does: string; readonly kind?: LeftOut["kind"]; readonly path?: string };

/** The effect in a project's file. `up to yours`: counts unless the user's limit is lower. */
export type ProjectRule<V> =
  | "counts"
  | "up to yours"
  | "never"
  | { readonly waits: (value: V) => string }
  /** `words` explains it in the reference. */
  | { readonly judge: (value: V, user: ConfigFile) => Effect; readonly words: string }
  | {
      readonly each: (name: string, entry: NonNullable<V[keyof V]>, user: ConfigFile) => Effect;
      readonly words: string;
    };

/** Default limit of calls per answer. */
const DEFAULT_MAX_CALLS = 128;
/** Characters of a value that are shown to the person. */
const MAX_VALUE_CHARS = 160;

export function shortJson(value: unknown): string {
  const text = canonicalJson(value);
  return text.length <= MAX_VALUE_CHARS
    ? text
    : `${text.slice(0, MAX_VALUE_CHARS)}… (${text.length} characters)`;
}

export function allowEffect(rules: readonly string[]): string {
  return `lets run without a question: ${rules.join(", ")}`;
}

export function modeEffect(mode: PermissionMode, user: ConfigFile): Effect {
  if (!isWiderMode(mode, user.permissionMode ?? "default")) return "counts";
  return mode === "bypassPermissions" ? "never" : { does: `runs in the mode ${mode}` };
}

export function callLimitEffect(limit: number, user: ConfigFile): Effect {
  if (limit <= (user.maxCallsPerAnswer ?? DEFAULT_MAX_CALLS)) return "counts";
  return { does: `lets one answer make ${limit} calls` };
}

export function providerEffect(name: string, provider: ProviderConfig, user: ConfigFile): Effect {
  if (isProviderForbidden(name, provider, user)) return "never";
  const { baseUrl = "an address of your environment", apiKeyEnv } = provider;
  const key = apiKeyEnv ?? standardVariables(name).key;
  return { does: `sends prompts for ${name}/… to ${baseUrl}, with the key in ${key} where it is set` };
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

/** The commands the hooks of an event would run; malformed ones as written. */
export function hooksEffect(event: string, groups: unknown): Effect {
  const { hooks } = readHooks({ [event]: groups }, "");
  const runs = hooks.map(({ matcher, command }) =>
    matcher === undefined ? command : `${command} (for ${matcher})`,
  );
  const does =
    runs.length === 0 ? `has no hook that can run: ${shortJson(groups)}` : `runs ${runs.join("; ")}`;
  return { kind: "hook", path: event, does };
}
