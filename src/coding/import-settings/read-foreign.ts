import { existsSync, readdirSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { errorMessage, type Json } from "../../core/base/errors.ts";
import { type Fields, isRecord, omitUndefined, ownValue } from "../../core/base/json.ts";
import { EFFORTS } from "../../core/model/model.ts";
import { type HookEvent, peerMatcher, readHooks } from "../../extensions/command-hooks/read-hooks.ts";
import { readTextFile } from "../../extensions/markdown/read-text-file.ts";
import { parseServer } from "../../extensions/mcp/server-definition.ts";
import { mcpNames, serverNameParts } from "../../extensions/mcp/tool-name.ts";
import { PERMISSION_MODES } from "../../permission/permission-mode.ts";
import { isPeerName, parseRule, type RuleAction, toToolName } from "../../permission/rule.ts";
import { PRESETS } from "../../providers/catalog.ts";
import { type Environment, variable } from "../../system/env.ts";
import { parseConfigText } from "../settings/parse-config.ts";
import { commandVariants, readCodexRules, readOpenCodeRules } from "./foreign-rules.ts";
import type { ImportItem, ImportPlan, ImportSource, PlanBuilder } from "./import-plan.ts";

interface ForeignSource {
  readonly home: string;
  readonly environment: Environment;
}

/** Sorts another agent's settings into those that can be imported and those that cannot. Reads only. */
export async function readForeign(source: ImportSource, place: ForeignSource): Promise<ImportPlan> {
  const plan: PlanBuilder = { items: [], left: [], notes: [] };
  await READERS[source](place, plan);
  return plan;
}

type Reader = (place: ForeignSource, plan: PlanBuilder) => void | Promise<void>;

const READERS: { readonly [S in ImportSource]: Reader } = {
  claude: readClaude,
  codex: readCodex,
  gemini: readGemini,
  opencode: readOpenCode,
};

const HOOKS_OFF = "they are switched off there";
const TOOLS_HINT = "here a server has all its tools; name those it must not have under permissions, deny";
const MODE_HINT = "say it for each run with --permission-mode, or set permissionMode";
const NO_PLUGINS = "plugins of other agents are not loaded; see docs/extensions.md";
const PROVIDERS_HINT = 'name them under "providers"';

function folderOf({ home, environment }: ForeignSource, name: string, below: string): string {
  const value = variable(environment, name);
  return value !== undefined && isAbsolute(value) ? value : join(home, below);
}

function readClaude(place: ForeignSource, plan: PlanBuilder): void {
  const folder = folderOf(place, "CLAUDE_CONFIG_DIR", ".claude");
  const file = new ForeignFile(join(folder, "settings.json"), plan);
  const settings = file.json() ?? {};
  const { permissions, hooks, disableAllHooks } = settings;
  if (isRecord(permissions)) {
    for (const action of ["allow", "ask", "deny"] as const) file.addRules(permissions[action], action);
    file.addMode(permissions["defaultMode"]);
    file.skipSettings(permissions, { additionalDirectories: "name them with --add-dir" });
  }
  if (hooks !== undefined && disableAllHooks === true) file.skip("hooks", HOOKS_OFF);
  else file.addHooks(hooks);
  file.addModel(settings["model"], "anthropic");
  const reasons = {
    env: 'put what commands need into "environment": { "set": … }; keys are read from your own environment',
    apiKeyHelper: "set the variable of the provider's key",
    statusLine: "an extension can show a text there: agent.status()",
    enabledPlugins: "plugins of other agents are not loaded",
  };
  file.skipOthers(settings, reasons, ["permissions", "hooks", "disableAllHooks", "model"]);
  const main = new ForeignFile(join(place.home, ".claude.json"), plan);
  const { mcpServers, projects } = main.json() ?? {};
  main.addServers(mcpServers, undefined, ["timeout"]);
  for (const [path, project] of recordsIn(projects))
    for (const [name] of recordsIn(project["mcpServers"]))
      main.skip(`MCP server ${name} of ${path}`, "add it in that folder with nano-agent mcp add --project");
  for (const [kind, what] of Object.entries({ commands: "commands", agents: "subagents", skills: "skills" }))
    if (existsSync(join(place.home, ".claude", kind)))
      plan.notes.push(`The ${what} of ~/.claude/${kind} are used where they are.`);
}

async function readCodex(place: ForeignSource, plan: PlanBuilder): Promise<void> {
  const folder = folderOf(place, "CODEX_HOME", ".codex");
  const file = new ForeignFile(join(folder, "config.toml"), plan);
  const config = (await file.toml()) ?? {};
  file.addServers(config["mcp_servers"]);
  file.addHooks(config["hooks"]);
  const hookFile = new ForeignFile(join(folder, "hooks.json"), plan);
  hookFile.addHooks(hookFile.json()?.["hooks"]);
  addCodexModel(config, file);
  const reasons = {
    model_providers: PROVIDERS_HINT,
    approval_policy: MODE_HINT,
    sandbox_mode: 'set "sandbox": { "mode": "on" }',
    notify: "write a hook for Stop or Notification",
    profiles: "there are none here",
  };
  const read = ["mcp_servers", "hooks", "model", "model_provider", "model_reasoning_effort"];
  file.skipOthers(config, reasons, read);
  for (const name of filesOf(join(folder, "rules")))
    addCodexRules(new ForeignFile(join(folder, "rules", name), plan));
  addMarkdown(join(folder, "prompts"), "command", plan);
  addSkills(join(folder, "skills"), plan);
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** The effort is part of the model name here. */
function addCodexModel(config: Fields, file: ForeignFile): void {
  const { model, model_provider: provider = "openai", model_reasoning_effort: effort } = config;
  const end = EFFORTS.some((each) => each === effort) ? `:${String(effort)}` : "";
  if (provider !== "openai") file.skipSettings(config, { model: OTHER_MODEL });
  else file.addModel(typeof model === "string" ? `${model}${end}` : model, provider);
}

function addCodexRules(file: ForeignFile): void {
  const { rules, unread } = readCodexRules(file.text() ?? "");
  for (const rule of rules) {
    const { action, words } = rule;
    const patterns = commandVariants(rule)?.map((command) => `Bash(${command}:*)`);
    if (patterns === undefined) file.skip(`${action}: ${words.join(" ")}`, "it covers too many commands");
    else file.addRules(patterns, action);
  }
  for (const line of unread)
    file.skip(
      `line ${line}`,
      "it is not a prefix_rule of plain words; write it as bash(…) under permissions",
    );
}

async function readGemini({ home }: ForeignSource, plan: PlanBuilder): Promise<void> {
  const folder = join(home, ".gemini");
  const file = new ForeignFile(join(folder, "settings.json"), plan);
  const settings = file.json() ?? {};
  addGeminiRules(settings, file);
  const { allowed, excluded } = isRecord(settings["mcp"]) ? settings["mcp"] : {};
  file.addServers(
    settings["mcpServers"],
    (name) =>
      stringsIn(excluded).includes(name) || (Array.isArray(allowed) && !stringsIn(allowed).includes(name)),
  );
  addGeminiHooks(settings, file, plan);
  const { model } = settings;
  file.addModel(isRecord(model) ? model["name"] : model, "google");
  file.skipOthers(settings, { approvalMode: MODE_HINT }, GEMINI_SETTINGS);
  for (const path of filesOf(join(folder, "commands"), ".toml"))
    await addGeminiCommand(path, new ForeignFile(join(folder, "commands", path), plan));
  addSkills(join(folder, "skills"), plan);
}

const GEMINI_SETTINGS = "tools allowedTools excludeTools mcp mcpServers hooks hooksConfig model".split(" ");

const GEMINI_EVENTS: { readonly [event: string]: HookEvent | undefined } = {
  SessionStart: "SessionStart",
  SessionEnd: "SessionEnd",
  BeforeAgent: "UserPromptSubmit",
  AfterAgent: "Stop",
  BeforeTool: "PreToolUse",
  AfterTool: "PostToolUse",
  Notification: "Notification",
  PreCompress: "PreCompact",
};

/** Hook groups have our format, with milliseconds; their tool names are known here. */
function addGeminiHooks({ hooks, hooksConfig }: Fields, file: ForeignFile, plan: PlanBuilder): void {
  if (!isRecord(hooks)) return;
  const { enabled, disabled } = isRecord(hooksConfig) ? hooksConfig : hooks;
  if (enabled === false) return file.skip("hooks", HOOKS_OFF);
  const off: ReadonlySet<unknown> = new Set(Array.isArray(disabled) ? disabled : []);
  const before = plan.items.length;
  for (const [name, groups] of Object.entries(hooks)) {
    const event = ownValue(GEMINI_EVENTS, name);
    if (!Array.isArray(groups) || name === "disabled") continue;
    if (event === undefined) file.skip(`hooks.${name}`, "there is no such event here");
    else file.addHooks({ [event]: groups.map((group: unknown) => toOwnGroup(group, off)) }, isGeminiName);
  }
  if (plan.items.length > before)
    plan.notes.push(
      "Hooks of gemini are told the events of this agent (PreToolUse for BeforeTool, …), and gemini's names of tools: look whether their scripts ask for more.",
    );
}

function isGeminiName(name: string): boolean {
  return ownValue(GEMINI_TOOLS, name) !== undefined && /^[a-z]/.test(name);
}

function toOwnGroup(group: unknown, off: ReadonlySet<unknown>): unknown {
  if (!isRecord(group) || !Array.isArray(group["hooks"])) return group;
  const hooks = (group["hooks"] as readonly unknown[]).flatMap((hook) => {
    if (!isRecord(hook)) return [hook];
    if (off.has(hook["name"]) || off.has(hook["command"])) return [];
    const { timeout } = hook;
    return [{ ...hook, ...(typeof timeout === "number" && { timeout: timeout / 1_000 }) }];
  });
  return { ...group, hooks };
}

function addGeminiRules(settings: Fields, file: ForeignFile): void {
  const tools: Fields = isRecord(settings["tools"]) ? settings["tools"] : {};
  const lists = [
    ["allow", tools["allowed"] ?? settings["allowedTools"]],
    ["deny", tools["exclude"] ?? settings["excludeTools"]],
  ] as const;
  for (const [action, list] of lists)
    for (const given of Array.isArray(list) ? (list as readonly unknown[]) : []) {
      const read = geminiRule(String(given), action);
      if ("rule" in read) file.addRules([read.rule], action);
      else file.skip(`${action}: ${String(given)}`, read.why);
    }
  file.skipSettings(tools, { core: "name what it leaves out under permissions, deny" });
}

/** Gemini's tool names and commands: prefixes there, patterns here. */
function geminiRule(given: string, action: RuleAction): { readonly rule: string } | { readonly why: string } {
  const [, name = "", pattern] = /^([\w-]+)(?:\((.*)\))?$/s.exec(given) ?? [];
  const tool = ownValue(GEMINI_TOOLS, name);
  if (tool === undefined) return { why: "there is no such tool here" };
  if (pattern === undefined) return { rule: tool };
  if (tool !== "bash") return { why: `${tool} alone would be more than it says` };
  if (action === "allow" && pattern.includes("*")) return { why: "its * is a plain character there" };
  return { rule: `Bash(${pattern}:*)` };
}

const GEMINI_TOOLS: { readonly [name: string]: string | undefined } = {
  run_shell_command: "bash",
  ShellTool: "bash",
  read_file: "read",
  ReadFileTool: "read",
  list_directory: "read",
  write_file: "write",
  WriteFileTool: "write",
  replace: "edit",
  EditTool: "edit",
  glob: "glob",
  GlobTool: "glob",
  search_file_content: "grep",
  GrepTool: "grep",
  web_fetch: "web_fetch",
  WebFetchTool: "web_fetch",
};

async function addGeminiCommand(path: string, file: ForeignFile): Promise<void> {
  const fields = await file.toml();
  if (fields === undefined) return;
  const { prompt, description } = fields;
  const place = path.slice(0, -".toml".length);
  const name = place.replaceAll(/[\\/]/g, ":");
  if (typeof prompt !== "string") return file.skip(`/${name}`, "it has no prompt");
  if (/!\{[^}]*\{\{args\}\}/.test(prompt) || /!\{[^}]*`/.test(prompt))
    return file.skip(`/${name}`, "it puts arguments (or backticks) into a command, which is not done here");
  const body = prompt
    .replaceAll(/!\{([^{}]*)\}/g, (_all, command: string) => `!\`${command}\``)
    .replaceAll(/@\{([^{}\s]*)\}/g, (_all, mentioned: string) => `@${mentioned}`)
    .replaceAll("{{args}}", "$ARGUMENTS");
  const head =
    typeof description === "string" ? `---\ndescription: ${JSON.stringify(description)}\n---\n` : "";
  const to = join("commands", `${place}.md`);
  file.add({ kind: "command", name, to, text: `${head}${body.trim()}\n`, does: `/${name}` });
}

function readOpenCode(place: ForeignSource, plan: PlanBuilder): void {
  const folder = join(folderOf(place, "XDG_CONFIG_HOME", ".config"), "opencode");
  for (const name of ["opencode.json", "opencode.jsonc", "config.json"]) {
    const file = new ForeignFile(join(folder, name), plan);
    const config = file.json();
    if (config !== undefined) readOpenCodeConfig(config, file);
  }
  for (const kind of ["command", "agent"] as const)
    for (const name of [kind, `${kind}s`]) addMarkdown(join(folder, name), kind, plan);
  for (const name of ["skill", "skills"]) addSkills(join(folder, name), plan);
  for (const name of ["plugin", "plugins"])
    for (const path of filesOf(join(folder, name)))
      new ForeignFile(join(folder, name, path), plan).skip("plugin", NO_PLUGINS);
}

function readOpenCodeConfig(config: Fields, file: ForeignFile): void {
  const { mcp, command } = config;
  for (const read of readOpenCodeRules(config))
    if ("rules" in read) file.addRules(read.rules, read.action);
    else file.skip(read.what, read.why);
  file.addServers(mcp);
  for (const [name, value] of recordsIn(command))
    if (!/^[\p{L}\p{N}_][\p{L}\p{N}_:/-]*$/u.test(name))
      file.skip(`command ${JSON.stringify(name)}`, "use letters, digits, - and _ for a command");
    else if (typeof value["template"] === "string") {
      const fields = ["description", "agent", "model"].flatMap((key) =>
        typeof value[key] === "string" ? [`${key}: ${JSON.stringify(value[key])}\n`] : [],
      );
      const text = `---\n${fields.join("")}---\n${value["template"].trim()}\n`;
      file.add({ kind: "command", name, to: join("commands", `${name}.md`), text, does: `/${name}` });
    }
  file.addModel(config["model"]);
  const reasons = {
    provider: PROVIDERS_HINT,
    plugin: NO_PLUGINS,
    agent: "write each as a file in ~/.config/nano-agent/agents/",
  };
  file.skipOthers(config, reasons, ["permission", "tools", "mcp", "command", "model"]);
}

const MAX_BYTES = 5_000_000;
const MAX_FILES = 500;

const OTHER_MODEL = 'choose one with --model or "model" in your settings: names are provider/id here';

/** Another agent's file, and the conversion of its settings into a plan. */
class ForeignFile {
  readonly path: string;
  readonly #plan: PlanBuilder;

  constructor(path: string, plan: PlanBuilder) {
    this.path = path;
    this.#plan = plan;
  }

  skip(what: string, why: string): void {
    this.#plan.left.push({ from: this.path, what, why });
  }

  add(item: NewItem): void {
    this.#plan.items.push({ ...item, from: this.path });
  }

  /** The file's text; `undefined` if it is missing. A file that cannot be read is reported in the plan. */
  text(): string | undefined {
    const file = readTextFile(this.path, { maxBytes: MAX_BYTES });
    if (file === undefined) return undefined;
    if ("text" in file) return file.text;
    this.skip("the whole file", file.fault);
    return undefined;
  }

  json(): Fields | undefined {
    const text = this.text();
    if (text === undefined) return undefined;
    const parsed = parseConfigText(text);
    if ("fault" in parsed) this.skip(`line ${parsed.line}`, parsed.fault);
    else if (isRecord(parsed.value)) return parsed.value;
    else this.skip("the whole file", "it is not an object");
    return undefined;
  }

  async toml(): Promise<Fields | undefined> {
    const text = this.text();
    if (text === undefined) return undefined;
    const { parse } = await import("smol-toml");
    try {
      return parse(text);
    } catch (error) {
      this.skip("the whole file", `it is not TOML: ${errorMessage(error).split("\n", 1)[0] ?? ""}`);
      return undefined;
    }
  }

  /** Adds a model that has a name here too; `provider` applies if the name does not include one. */
  addModel(name: unknown, provider?: string): void {
    if (name === undefined) return;
    const value = provider === undefined ? name : `${provider}/${String(name)}`;
    // Aliases (`opus`) and names with unknown providers are dropped.
    if (typeof value === "string" && typeof name === "string" && isModelName(value))
      this.add({ kind: "setting", key: "model", value, does: `model: ${value}` });
    else this.skip(`model: ${JSON.stringify(name)}`, OTHER_MODEL);
  }

  /** Adds the initial permission mode if it is one of ours and does not bypass permissions. */
  addMode(mode: unknown): void {
    if (mode === undefined) return;
    const value = PERMISSION_MODES.find((each) => each === mode);
    if (value === undefined || value === "bypassPermissions")
      this.skip(`defaultMode: ${JSON.stringify(mode)}`, "say it for each run with --permission-mode");
    else this.add({ kind: "setting", key: "permissionMode", value, does: `permissionMode: ${value}` });
  }

  /** Adds permission rules; skips those that cannot be read or name a tool that does not exist here. */
  addRules(rules: unknown, action: RuleAction): void {
    for (const rule of Array.isArray(rules) ? (rules as readonly unknown[]) : []) {
      if (typeof rule !== "string") continue;
      const name = rule.split("(", 1)[0] ?? "";
      const isKnown = isPeerName(name) || toToolName(name) !== name || /^(?:mcp__|[a-z])/.test(name);
      try {
        parseRule(rule, action);
        if (isKnown) this.add({ kind: "rule", action, rule, does: `${action}: ${rule}` });
        else this.skip(`permissions.${action}: ${rule}`, `there is no tool ${name} here`);
      } catch (error) {
        this.skip(`permissions.${action}: ${rule}`, errorMessage(error));
      }
    }
  }

  /** Adds command hooks; skips others. `isPeers` knows the tool names their scripts get. */
  addHooks(hooks: unknown, isPeers: (name: string) => boolean = isPeerName): void {
    if (hooks === undefined) return;
    const { hooks: commands, problems } = readHooks(hooks, "hooks");
    for (const { event, matcher, command, timeoutMs } of commands) {
      const isOfTools = TOOL_EVENTS.has(event);
      const group: Json = {
        ...omitUndefined({ matcher: isOfTools ? peerMatcher(matcher, isPeers) : matcher }),
        hooks: [{ type: "command", command, timeout: timeoutMs / 1_000 }],
      };
      const forWhat = matcher === undefined ? "" : ` for ${matcher}`;
      this.add({ kind: "hook", event, group, does: `${event}${forWhat}: ${command}` });
    }
    for (const problem of problems) this.skip("hooks", problem.replace(/^hooks: /, ""));
  }

  /**
   * Adds the MCP servers that are usable and not switched off; tools switched off there are denied here.
   * `alike`: fields that mean the same here.
   */
  addServers(
    servers: unknown,
    isOff: (name: string) => boolean = () => false,
    alike: readonly string[] = [],
  ): void {
    for (const [name, server] of Object.entries(isRecord(servers) ? servers : {})) {
      const what = `MCP server ${name}`;
      if (!isRecord(server)) this.skip(what, "it is not an object");
      else if (server["enabled"] === false || server["disabled"] === true || isOff(name))
        this.skip(what, "it is switched off there");
      else this.#addServer(name, server, alike);
    }
  }

  #addServer(name: string, server: Fields, alike: readonly string[]): void {
    const part = serverNameParts([name]).get(name) ?? name;
    const denied = stringsIn(server["disabled_tools"] ?? server["excludeTools"]);
    this.addRules([...mcpNames(part, denied).values()], "deny");
    this.skipSettings(server, { enabled_tools: TOOLS_HINT, includeTools: TOOLS_HINT });
    const same = Object.fromEntries(alike.map((key) => [key, server[key]]));
    const definition = omitUndefined({ ...ownServer(server), ...same }) as { readonly [key: string]: Json };
    // Variables may be set later or elsewhere, so only the form of the definition is checked.
    const parsed = parseServer(name, definition, { source: this.path, variables: {} });
    if (!parsed.ok && !/variable/.test(parsed.fault))
      return this.skip(`MCP server ${name}`, `it ${parsed.fault}`);
    const { command, args, url } = definition;
    const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === "string");
    const does = words.length > 0 ? `starts ${words.join(" ")}` : `connects to ${String(url)}`;
    this.add({ kind: "mcp_server", name, definition, does });
  }

  /** Reports settings that this agent expresses differently. */
  skipSettings(fields: Fields, reasons: { readonly [key: string]: string }): void {
    for (const [key, why] of Object.entries(reasons)) if (fields[key] !== undefined) this.skip(key, why);
  }

  /** The same for all settings of a file; also reports those neither in `read` nor in `reasons`. */
  skipOthers(fields: Fields, reasons: { readonly [key: string]: string }, read: readonly string[]): void {
    this.skipSettings(fields, reasons);
    const others = Object.keys(fields).filter(
      (key) => !(key in reasons) && !["$schema", ...read].includes(key),
    );
    if (others.length > 0) this.skip(others.join(", "), "nothing here has this name");
  }
}

/** An MCP server of any of these agents in our form. */
function ownServer(server: Fields): Fields {
  const { type, command, args, cwd, env, environment = env, oauth } = server;
  const { url, httpUrl = url, headers, http_headers = headers, bearer_token_env_var: token } = server;
  if (httpUrl === undefined) {
    const [program, ...words] = Array.isArray(command) ? (command as readonly unknown[]) : [command];
    return { command: program, args: args ?? (words.length > 0 ? words : undefined), env: environment, cwd };
  }
  const authorization = typeof token === "string" ? { Authorization: `Bearer \${${token}}` } : undefined;
  const all = authorization && { ...(isRecord(http_headers) ? http_headers : {}), ...authorization };
  const login = isRecord(oauth) ? oauth : undefined;
  return { type: type === "sse" ? type : "http", url: httpUrl, headers: all ?? http_headers, oauth: login };
}

const TOOL_EVENTS: ReadonlySet<HookEvent> = new Set(["PreToolUse", "PermissionRequest", "PostToolUse"]);

type NewItem = ImportItem extends infer I ? (I extends ImportItem ? Omit<I, "from"> : never) : never;

function isModelName(value: string): boolean {
  const [provider = "", id = ""] = value.split(/\/(.*)/s);
  return PRESETS.some(({ name }) => name === provider) && /^[a-z][\w.:/-]*\d[\w.:/-]*$/i.test(id);
}

function addMarkdown(folder: string, kind: "command" | "agent", plan: PlanBuilder): void {
  for (const path of filesOf(folder, ".md")) {
    const name = path.slice(0, -3).replaceAll(/[\\/]/g, ":");
    const does = kind === "command" ? `/${name}` : name;
    new ForeignFile(join(folder, path), plan).add({ kind, name, to: join(`${kind}s`, path), does });
  }
}

function addSkills(folder: string, plan: PlanBuilder): void {
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const from = join(folder, name);
    if (name.startsWith(".") || !existsSync(join(from, "SKILL.md"))) continue;
    new ForeignFile(from, plan).add({ kind: "skill", name, to: join("skills", name), does: name });
  }
}

function filesOf(folder: string, end = ""): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
    .slice(0, MAX_FILES)
    .filter((path) => path.endsWith(end));
}

function recordsIn(value: unknown): readonly (readonly [name: string, value: Fields])[] {
  return Object.entries(isRecord(value) ? value : {}).filter((entry): entry is [string, Fields] =>
    isRecord(entry[1]),
  );
}
