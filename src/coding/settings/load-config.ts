import { join } from "node:path";
import { findProblem } from "../../core/base/check-options.ts";
import { errorMessage, invalidConfig, type NanoAgentError } from "../../core/base/errors.ts";
import { parseRule } from "../../permission/rule.ts";
import type { ConfigFile } from "./config-schema.ts";
import { readSettingsFile } from "./private-file.ts";
import { SETTINGS_SCHEMA } from "./setting-table.ts";

const MAX_BYTES = 1_000_000;
/** Deepest nesting a config file may have; the schema needs six levels. */
const MAX_DEPTH = 32;

export interface LoadedConfig {
  readonly path: string;
  readonly config: ConfigFile;
}

/** The files a project may keep its config in; the second wins on conflicts. */
export const PROJECT_CONFIG_FILES: readonly string[] = [
  "nano-agent.json",
  join(".nano-agent", "config.json"),
];

/** Reads the config files of the nearest of `folders` (root first) that has any; later files override. */
export async function loadProjectConfig(folders: readonly string[]): Promise<readonly LoadedConfig[]> {
  for (const folder of folders.toReversed()) {
    const found: LoadedConfig[] = [];
    for (const name of PROJECT_CONFIG_FILES) {
      const loaded = await loadConfigFile(join(folder, name));
      if (loaded !== undefined) found.push(loaded);
    }
    if (found.length > 0) return found;
  }
  return [];
}

/** Reads a config file; `undefined` if there is none. Throws `invalid_config` with the file and line. */
export async function loadConfigFile(path: string): Promise<LoadedConfig | undefined> {
  const bytes = readSettingsFile(path, MAX_BYTES);
  if (bytes === undefined) return undefined;
  if (bytes.includes(0)) throw invalid(path, "is not UTF-8 text (UTF-16?). Save it as UTF-8.");
  return { path, config: await checkConfigText(bytes.toString("utf8"), path) };
}

/** Parses a config text; `path` names it in errors. Throws `invalid_config` with file and line. */
export async function checkConfigText(text: string, path: string): Promise<ConfigFile> {
  const depth = nestingOf(text);
  if (depth > MAX_DEPTH)
    throw invalid(
      path,
      `is nested ${depth} levels deep, more than ${MAX_DEPTH}. Keep to the documented keys.`,
    );
  const { parseConfigText } = await import("./parse-config.ts");
  const parsed = parseConfigText(text);
  if ("fault" in parsed) throw invalid(`${path}:${parsed.line}`, `${parsed.fault}.`);
  const problem = findProblem(parsed.value, SETTINGS_SCHEMA, "the file");
  if (problem !== undefined) throw invalid(`${path}:${parsed.lineOf(problem.path)}`, problem.message);
  const config = parsed.value as ConfigFile;
  const ruleProblem = findRuleProblem(config);
  if (ruleProblem !== undefined)
    throw invalid(`${path}:${parsed.lineOf(ruleProblem.path)}`, ruleProblem.message);
  return config;
}

function findRuleProblem(
  config: ConfigFile,
): { readonly path: readonly (string | number)[]; readonly message: string } | undefined {
  const inFolders = Object.entries(config.folders ?? {}).map(
    ([folder, { permissions }]) => [["folders", folder], permissions] as const,
  );
  for (const [above, permissions = {}] of [[[], config.permissions] as const, ...inFolders])
    for (const action of ["allow", "ask", "deny"] as const)
      for (const [index, text] of (permissions[action] ?? []).entries())
        try {
          parseRule(text, action);
        } catch (error) {
          return { path: [...above, "permissions", action, index], message: errorMessage(error) };
        }
  return undefined;
}

/** Deepest nesting of brackets, including those in strings and comments: an upper bound without a parser. */
function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === "{" || bracket === "[" ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function invalid(where: string, what: string): NanoAgentError {
  return invalidConfig(`${where}: ${what}`);
}
