import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorMessage, type Json } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import { readHooks } from "../../extensions/command-hooks/read-hooks.ts";
import { readTextFile } from "../../extensions/markdown/read-text-file.ts";
import { parseServer } from "../../extensions/mcp/server-definition.ts";
import { parseRule } from "../../permission/parse-rule.ts";
import { PERMISSION_MODES } from "../../permission/permission-mode.ts";
import { isPeerName, toToolName } from "../../permission/tool-names.ts";
import { PRESETS } from "../../providers/catalog.ts";
import { parseConfigText } from "../config/parse-config.ts";
import type { PlanBuilder } from "./import-plan.ts";

/** Fields of a file of settings. */
export type Fields = { readonly [key: string]: unknown };

const MAX_BYTES = 5_000_000;
const MAX_FILES = 500;

/** The text of a file; `undefined` where there is none. One that cannot be read is told in the plan. */
export function textOfFile(path: string, plan: PlanBuilder): string | undefined {
  const file = readTextFile(path, { maxBytes: MAX_BYTES });
  if (file === undefined) return undefined;
  if ("text" in file) return file.text;
  plan.leave(path, "the whole file", file.fault);
  return undefined;
}

/** A file of JSON, comments allowed, as an object. */
export function jsonFile(path: string, plan: PlanBuilder): Fields | undefined {
  const text = textOfFile(path, plan);
  if (text === undefined) return undefined;
  const parsed = parseConfigText(text);
  if ("fault" in parsed) plan.leave(path, `line ${parsed.line}`, parsed.fault);
  else if (isRecord(parsed.value)) return parsed.value;
  else plan.leave(path, "the whole file", "it is not an object");
  return undefined;
}

/** A file of TOML as an object. */
export async function tomlFile(path: string, plan: PlanBuilder): Promise<Fields | undefined> {
  const text = textOfFile(path, plan);
  if (text === undefined) return undefined;
  const { parse } = await import("smol-toml");
  try {
    return parse(text);
  } catch (error) {
    plan.leave(path, "the whole file", `it is not TOML: ${errorMessage(error).split("\n", 1)[0] ?? ""}`);
    return undefined;
  }
}

/** Adds a model that is named here too; `provider` is whose it is where its name does not say so. */
export function addModel(
  name: unknown,
  { provider, from, plan }: { readonly provider?: string; readonly from: string; readonly plan: PlanBuilder },
): void {
  if (name === undefined) return;
  const value = provider === undefined ? name : `${provider}/${String(name)}`;
  // Short names (`opus`), and those of providers nobody here knows, name nothing.
  if (typeof value === "string" && typeof name === "string" && isModelName(value))
    plan.add({ kind: "setting", key: "model", value, from, does: `model: ${value}` });
  else plan.leave(from, `model: ${JSON.stringify(name)}`, OTHER_MODEL);
}

/** What to do about a model that cannot be taken over. */
export const OTHER_MODEL = 'choose one with --model or "model" in your settings: names are provider/id here';

function isModelName(value: string): boolean {
  const [provider = "", id = ""] = value.split(/\/(.*)/s);
  return PRESETS.some(({ name }) => name === provider) && /^[a-z][\w.:/-]*\d[\w.:/-]*$/i.test(id);
}

/** Adds the permission mode to begin with, where it is one of ours and takes nothing away. */
export function addMode(
  mode: unknown,
  { from, plan }: { readonly from: string; readonly plan: PlanBuilder },
): void {
  if (mode === undefined) return;
  const own = PERMISSION_MODES.find((each) => each === mode);
  if (own === undefined || own === "bypassPermissions")
    plan.leave(from, `defaultMode: ${JSON.stringify(mode)}`, "say it for each run with --permission-mode");
  else plan.add({ kind: "setting", key: "permissionMode", value: own, from, does: `permissionMode: ${own}` });
}

/** Adds permission rules. One that could not be read, or speaks of a tool that is not here, is left. */
export function addRules(
  rules: unknown,
  {
    action,
    from,
    plan,
  }: { readonly action: "allow" | "ask" | "deny"; readonly from: string; readonly plan: PlanBuilder },
): void {
  for (const rule of Array.isArray(rules) ? (rules as readonly unknown[]) : []) {
    if (typeof rule !== "string") continue;
    const name = rule.split("(", 1)[0] ?? "";
    const isKnown = isPeerName(name) || toToolName(name) !== name || /^(?:mcp__|[a-z])/.test(name);
    try {
      parseRule(rule, action);
      if (isKnown) plan.add({ kind: "rule", action, rule, from, does: `${action}: ${rule}` });
      else plan.leave(from, `permissions.${action}: ${rule}`, `there is no tool ${name} here`);
    } catch (error) {
      plan.leave(from, `permissions.${action}: ${rule}`, errorMessage(error));
    }
  }
}

/** Adds hooks that are commands; those of other kinds and events are left. */
export function addHooks(
  hooks: unknown,
  { from, plan }: { readonly from: string; readonly plan: PlanBuilder },
): void {
  const { hooks: commands, problems } = readHooks(hooks, "hooks");
  for (const { event, matcher, command, timeoutMs } of commands) {
    const group: Json = {
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [{ type: "command", command, timeout: timeoutMs / 1_000 }],
    };
    const forWhat = matcher === undefined ? "" : ` for ${matcher}`;
    plan.add({ kind: "hook", event, group, from, does: `${event}${forWhat}: ${command}` });
  }
  for (const problem of problems) plan.leave(from, "hooks", problem.replace(/^hooks: /, ""));
}

/** Adds an MCP server, unless it could not be used. */
export function addServer(
  name: string,
  definition: { readonly [key: string]: Json | undefined },
  { from, plan }: { readonly from: string; readonly plan: PlanBuilder },
): void {
  const kept = Object.fromEntries(
    Object.entries(definition).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
  // Variables may be set later, or elsewhere: only the form of a definition is looked at.
  const parsed = parseServer(name, kept, { source: from, variables: {} });
  if (!parsed.ok && !/variable/.test(parsed.fault)) {
    plan.leave(from, `MCP server ${name}`, `it ${parsed.fault}`);
    return;
  }
  const { command, args, url } = kept;
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === "string");
  const does = words.length > 0 ? `starts ${words.join(" ")}` : `connects to ${String(url)}`;
  plan.add({ kind: "mcp_server", name, definition: kept, from, does });
}

/** The servers of a settings file in the shape that most agents share. */
export function addServers(
  servers: unknown,
  place: { readonly from: string; readonly plan: PlanBuilder },
): void {
  if (!isRecord(servers)) return;
  for (const [name, server] of Object.entries(servers))
    if (isRecord(server)) addServer(name, server as { readonly [key: string]: Json }, place);
    else place.plan.leave(place.from, `MCP server ${name}`, "it is not an object");
}

/** Adds the Markdown files of a folder, folders in it included. */
export function addMarkdown(
  folder: string,
  { kind, plan }: { readonly kind: "command" | "agent"; readonly plan: PlanBuilder },
): void {
  for (const path of filesOf(folder).filter((name) => name.endsWith(".md"))) {
    const name = path.slice(0, -3).replaceAll(/[\\/]/g, ":");
    const from = join(folder, path);
    const does = kind === "command" ? `/${name}` : name;
    plan.add({ kind, name, from, to: join(`${kind}s`, path), does });
  }
}

/** Adds the skills of a folder. */
export function addSkills(folder: string, plan: PlanBuilder): void {
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const from = join(folder, name);
    if (name.startsWith(".") || !existsSync(join(from, "SKILL.md"))) continue;
    plan.add({ kind: "skill", name, from, to: join("skills", name), does: name });
  }
}

/** Paths of the files below a folder, relative to it. */
export function filesOf(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
    .slice(0, MAX_FILES);
}

/** Settings that mean something this agent sets otherwise. */
export function leaveSettings(
  fields: Fields,
  reasons: { readonly [key: string]: string },
  { from, plan }: { readonly from: string; readonly plan: PlanBuilder },
): void {
  for (const [key, why] of Object.entries(reasons)) if (fields[key] !== undefined) plan.leave(from, key, why);
}

/** The entries of an object that are objects themselves. */
export function recordsIn(value: unknown): readonly (readonly [name: string, value: Fields])[] {
  return Object.entries(isRecord(value) ? value : {}).filter((entry): entry is [string, Fields] =>
    isRecord(entry[1]),
  );
}
