import { canonicalJson } from "../../core/base/json.ts";
import { contentHash, type TrustItem } from "../../permission/trusted-project.ts";
import type { ConfigFile } from "./config-schema.ts";
import { parseDuration } from "./duration.ts";
import type { Part, ProjectRule } from "./project-rules.ts";
import { SETTINGS } from "./setting-table.ts";

/** A config file of a project, by what its settings may do. */
export interface ProjectConfig {
  /** Can only tighten: counts always. */
  readonly plain: ConfigFile;
  /** Counts once the user has approved exactly this content. */
  readonly acting: readonly ActingSetting[];
  readonly never: readonly string[];
}

/** A setting that can act, and what trusting it adds. */
export interface ActingSetting {
  readonly item: TrustItem;
  readonly config: ConfigFile;
}

/**
 * Takes a project's config file apart. `path` is that of the file relative to the project's folder. Even
 * trusted, a project can not: set permissions aside (`bypassPermissions`), touch the sandbox, the environment
 * of commands, memory or telemetry, name the user's proxies, raise limits the user set, speak for other
 * folders, or change where a provider that the package or the user knows is reached, or which of the user's
 * variables is sent to an address of its own.
 */
export function splitProjectConfig(path: string, config: ConfigFile, user: ConfigFile): ProjectConfig {
  const parts = (Object.keys(SETTINGS) as readonly (keyof ConfigFile)[]).flatMap((key) =>
    partsOf(key, config, user),
  );
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

function partsOf(key: keyof ConfigFile, config: ConfigFile, user: ConfigFile): readonly Part[] {
  const value = config[key];
  if (value === undefined || key === "$schema") return [];
  // Each rule is asked about the value of its own key.
  const rule = SETTINGS[key].project as ProjectRule<unknown>;
  const own = { [key]: value };
  if (rule === "counts") return [{ tightens: own }];
  if (rule === "never") return [{ never: key }];
  if (rule === "up to yours") return [isAbove(value, user[key]) ? { never: key } : { tightens: own }];
  if ("waits" in rule) return [{ waits: key, value, does: rule.waits(value), config: own }];
  return rule.parts(value, user);
}

/** True when a limit, a figure or a time, is higher than the user's. */
function isAbove(value: unknown, limit: unknown): boolean {
  return limit !== undefined && figure(value) > figure(limit);
}

function figure(limit: unknown): number {
  return typeof limit === "string" ? (parseDuration(limit) ?? Number.NaN) : Number(limit);
}

function actingSetting(path: string, part: Extract<Part, { waits: string }>): ActingSetting {
  const { waits, value, does, config, kind = "config" } = part;
  return {
    item: { kind, path: `${path}#${waits}`, hash: contentHash(canonicalJson(value)), does },
    config,
  };
}
