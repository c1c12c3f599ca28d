import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { defined } from "../../core/base/defined.ts";
import { errorMessage, type Json } from "../../core/base/errors.ts";
import { type Fields, isRecord } from "../../core/base/json.ts";
import type { HookEvent } from "../../extensions/command-hooks/hook-event.ts";
import { peerMatcher, readHooks } from "../../extensions/command-hooks/read-hooks.ts";
import { readTextFile } from "../../extensions/markdown/read-text-file.ts";
import { parseServer } from "../../extensions/mcp/server-definition.ts";
import { parseRule } from "../../permission/parse-rule.ts";
import { PERMISSION_MODES } from "../../permission/permission-mode.ts";
import type { RuleAction } from "../../permission/rule.ts";
import { isPeerName, toToolName } from "../../permission/tool-names.ts";
import { PRESETS } from "../../providers/catalog.ts";
import { parseConfigText } from "../settings/parse-config.ts";
import type { ImportItem, PlanBuilder } from "./import-plan.ts";

const MAX_BYTES = 5_000_000;
const MAX_FILES = 500;

/** Advice about a model that cannot be taken over. */
export const OTHER_MODEL = 'choose one with --model or "model" in your settings: names are provider/id here';

/** A file of another agent, and what of it goes into a plan. */
export class ForeignFile {
  readonly path: string;
  readonly #plan: PlanBuilder;

  constructor(path: string, plan: PlanBuilder) {
    this.path = path;
    this.#plan = plan;
  }

  /** Something of it is not taken over. */
  leave(what: string, why: string): void {
    this.#plan.left.push({ from: this.path, what, why });
  }

  add(item: NewItem): void {
    this.#plan.items.push({ ...item, from: this.path });
  }

  /** Its text; `undefined` where there is none. One that cannot be read is told in the plan. */
  text(): string | undefined {
    const file = readTextFile(this.path, { maxBytes: MAX_BYTES });
    if (file === undefined) return undefined;
    if ("text" in file) return file.text;
    this.leave("the whole file", file.fault);
    return undefined;
  }

  json(): Fields | undefined {
    const text = this.text();
    if (text === undefined) return undefined;
    const parsed = parseConfigText(text);
    if ("fault" in parsed) this.leave(`line ${parsed.line}`, parsed.fault);
    else if (isRecord(parsed.value)) return parsed.value;
    else this.leave("the whole file", "it is not an object");
    return undefined;
  }

  async toml(): Promise<Fields | undefined> {
    const text = this.text();
    if (text === undefined) return undefined;
    const { parse } = await import("smol-toml");
    try {
      return parse(text);
    } catch (error) {
      this.leave("the whole file", `it is not TOML: ${errorMessage(error).split("\n", 1)[0] ?? ""}`);
      return undefined;
    }
  }

  /** Adds a model that is named here too; `provider` is whose it is where its name does not say so. */
  addModel(name: unknown, provider?: string): void {
    if (name === undefined) return;
    const value = provider === undefined ? name : `${provider}/${String(name)}`;
    // Short names (`opus`), and those of providers nobody here knows, name nothing.
    if (typeof value === "string" && typeof name === "string" && isModelName(value))
      this.add({ kind: "setting", key: "model", value, does: `model: ${value}` });
    else this.leave(`model: ${JSON.stringify(name)}`, OTHER_MODEL);
  }

  /** Adds the permission mode to begin with, where it is one of ours and takes nothing away. */
  addMode(mode: unknown): void {
    if (mode === undefined) return;
    const value = PERMISSION_MODES.find((each) => each === mode);
    if (value === undefined || value === "bypassPermissions")
      this.leave(`defaultMode: ${JSON.stringify(mode)}`, "say it for each run with --permission-mode");
    else this.add({ kind: "setting", key: "permissionMode", value, does: `permissionMode: ${value}` });
  }

  /** Adds permission rules. One that could not be read, or speaks of a tool that is not here, is left. */
  addRules(rules: unknown, action: RuleAction): void {
    for (const rule of Array.isArray(rules) ? (rules as readonly unknown[]) : []) {
      if (typeof rule !== "string") continue;
      const name = rule.split("(", 1)[0] ?? "";
      const isKnown = isPeerName(name) || toToolName(name) !== name || /^(?:mcp__|[a-z])/.test(name);
      try {
        parseRule(rule, action);
        if (isKnown) this.add({ kind: "rule", action, rule, does: `${action}: ${rule}` });
        else this.leave(`permissions.${action}: ${rule}`, `there is no tool ${name} here`);
      } catch (error) {
        this.leave(`permissions.${action}: ${rule}`, errorMessage(error));
      }
    }
  }

  /** Adds hooks that are commands and leaves others. `isPeers` knows the tool names their scripts get. */
  addHooks(hooks: unknown, isPeers: (name: string) => boolean = isPeerName): void {
    if (hooks === undefined) return;
    const { hooks: commands, problems } = readHooks(hooks, "hooks");
    for (const { event, matcher, command, timeoutMs } of commands) {
      const isOfTools = TOOL_EVENTS.has(event);
      const group: Json = {
        ...defined({ matcher: isOfTools ? peerMatcher(matcher, isPeers) : matcher }),
        hooks: [{ type: "command", command, timeout: timeoutMs / 1_000 }],
      };
      const forWhat = matcher === undefined ? "" : ` for ${matcher}`;
      this.add({ kind: "hook", event, group, does: `${event}${forWhat}: ${command}` });
    }
    for (const problem of problems) this.leave("hooks", problem.replace(/^hooks: /, ""));
  }

  /** Adds an MCP server, unless it is switched off or could not be used. */
  addServer(name: string, given: Fields, { enabled }: Fields = {}): void {
    const definition = defined(given) as { readonly [key: string]: Json };
    // Variables may be set later, or elsewhere: only the form of a definition is looked at.
    const parsed = parseServer(name, definition, { source: this.path, variables: {} });
    if (enabled === false) return this.leave(`MCP server ${name}`, "it is switched off there");
    if (!parsed.ok && !/variable/.test(parsed.fault))
      return this.leave(`MCP server ${name}`, `it ${parsed.fault}`);
    const { command, args, url } = definition;
    const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === "string");
    const does = words.length > 0 ? `starts ${words.join(" ")}` : `connects to ${String(url)}`;
    this.add({ kind: "mcp_server", name, definition, does });
  }

  /** Adds servers in the shape that most agents share. */
  addServers(servers: unknown): void {
    for (const [name, server] of Object.entries(isRecord(servers) ? servers : {}))
      if (isRecord(server)) this.addServer(name, server);
      else this.leave(`MCP server ${name}`, "it is not an object");
  }

  /** Tells settings that mean something this agent sets otherwise. */
  leaveSettings(fields: Fields, reasons: { readonly [key: string]: string }): void {
    for (const [key, why] of Object.entries(reasons)) if (fields[key] !== undefined) this.leave(key, why);
  }

  /** The same for all settings of a file: those neither in `read` nor with a reason are named too. */
  leaveOthers(fields: Fields, reasons: { readonly [key: string]: string }, read: readonly string[]): void {
    this.leaveSettings(fields, reasons);
    const others = Object.keys(fields).filter(
      (key) => !(key in reasons) && !["$schema", ...read].includes(key),
    );
    if (others.length > 0) this.leave(others.join(", "), "nothing here has this name");
  }
}

const TOOL_EVENTS: ReadonlySet<HookEvent> = new Set(["PreToolUse", "PermissionRequest", "PostToolUse"]);

type NewItem = ImportItem extends infer I ? (I extends ImportItem ? Omit<I, "from"> : never) : never;

function isModelName(value: string): boolean {
  const [provider = "", id = ""] = value.split(/\/(.*)/s);
  return PRESETS.some(({ name }) => name === provider) && /^[a-z][\w.:/-]*\d[\w.:/-]*$/i.test(id);
}

/** Adds the Markdown files of a folder, folders in it included. */
export function addMarkdown(folder: string, kind: "command" | "agent", plan: PlanBuilder): void {
  for (const path of filesOf(folder, ".md")) {
    const name = path.slice(0, -3).replaceAll(/[\\/]/g, ":");
    const does = kind === "command" ? `/${name}` : name;
    new ForeignFile(join(folder, path), plan).add({ kind, name, to: join(`${kind}s`, path), does });
  }
}

/** Adds the skills of a folder. */
export function addSkills(folder: string, plan: PlanBuilder): void {
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const from = join(folder, name);
    if (name.startsWith(".") || !existsSync(join(from, "SKILL.md"))) continue;
    new ForeignFile(from, plan).add({ kind: "skill", name, to: join("skills", name), does: name });
  }
}

/** Paths of the files below a folder, relative to it, whose names end so. */
export function filesOf(folder: string, end = ""): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
    .slice(0, MAX_FILES)
    .filter((path) => path.endsWith(end));
}

/** The entries of an object that are objects themselves. */
export function recordsIn(value: unknown): readonly (readonly [name: string, value: Fields])[] {
  return Object.entries(isRecord(value) ? value : {}).filter((entry): entry is [string, Fields] =>
    isRecord(entry[1]),
  );
}
