import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Json } from "../../core/base/errors.ts";
import { isRecord } from "../../core/base/json.ts";
import type { HookEvent } from "../../extensions/command-hooks/hook-event.ts";
import { mcpNames, serverParts } from "../../extensions/mcp/tool-name.ts";
import type { RuleAction } from "../../permission/rule.ts";
import { EFFORTS } from "../../providers/model-name.ts";
import { type Environment, variable } from "../config/env.ts";
import { commandsOf, readCodexRules } from "./codex-rules.ts";
import {
  addHooks,
  addMarkdown,
  addMode,
  addModel,
  addRules,
  addServer,
  addServers,
  addSkills,
  type Fields,
  filesOf,
  jsonFile,
  leaveSettings,
  OTHER_MODEL,
  recordsIn,
  textOfFile,
  tomlFile,
} from "./foreign-parts.ts";
import { type ImportPlan, type ImportSource, PlanBuilder } from "./import-plan.ts";
import { readOpenCodeRules } from "./opencode-rules.ts";

/** Where to look. */
export interface ForeignPlace {
  readonly home: string;
  readonly environment: Environment;
}

/** What can be taken over of another agent's settings, and what cannot. Reads only. */
export async function readForeign(source: ImportSource, place: ForeignPlace): Promise<ImportPlan> {
  const plan = new PlanBuilder();
  await READERS[source](place, plan);
  return plan.plan;
}

/** Why something is left that the other agent does not use either. */
const OFF = "it is switched off there";
const HOOKS_OFF = "they are switched off there";

type Reader = (place: ForeignPlace, plan: PlanBuilder) => void | Promise<void>;

const READERS: { readonly [S in ImportSource]: Reader } = {
  claude: readClaude,
  codex: readCodex,
  gemini: readGemini,
  opencode: readOpenCode,
};

/** A folder that a variable may name. */
function folderOf({ home, environment }: ForeignPlace, name: string, below: string): string {
  const value = variable(environment, name);
  return value !== undefined && isAbsolute(value) ? value : join(home, below);
}

function readClaude(place: ForeignPlace, plan: PlanBuilder): void {
  const folder = folderOf(place, "CLAUDE_CONFIG_DIR", ".claude");
  const from = join(folder, "settings.json");
  const settings = jsonFile(from, plan) ?? {};
  const { permissions, hooks, disableAllHooks } = settings;
  if (isRecord(permissions)) {
    for (const action of ["allow", "ask", "deny"] as const)
      addRules(permissions[action], { action, from, plan });
    addMode(permissions["defaultMode"], { from, plan });
    leaveSettings(permissions, { additionalDirectories: "name them with --add-dir" }, { from, plan });
  }
  if (hooks !== undefined && disableAllHooks === true) plan.leave(from, "hooks", HOOKS_OFF);
  else if (hooks !== undefined) addHooks(hooks, { from, plan });
  addModel(settings["model"], { provider: "anthropic", from, plan });
  leaveSettings(
    settings,
    {
      env: 'put what commands need into "environment": { "set": … }; keys are read from your own environment',
      apiKeyHelper: "set the variable of the provider's key",
      statusLine: "an extension can show a text there: agent.status()",
      enabledPlugins: "plugins of other agents are not loaded",
    },
    { from, plan },
  );
  const main = join(place.home, ".claude.json");
  addServers(jsonFile(main, plan)?.["mcpServers"], { from: main, plan });
  for (const [kind, what] of [
    ["commands", "commands"],
    ["agents", "subagents"],
    ["skills", "skills"],
  ] as const)
    if (existsSync(join(place.home, ".claude", kind)))
      plan.notes.push(`The ${what} of ~/.claude/${kind} are used where they are.`);
}

async function readCodex(place: ForeignPlace, plan: PlanBuilder): Promise<void> {
  const folder = folderOf(place, "CODEX_HOME", ".codex");
  const from = join(folder, "config.toml");
  const config = (await tomlFile(from, plan)) ?? {};
  for (const [name, server] of recordsIn(config["mcp_servers"])) {
    const {
      command,
      args,
      env,
      cwd,
      url,
      http_headers: headers,
      bearer_token_env_var: token,
      enabled,
    } = server;
    const authorization = typeof token === "string" ? { Authorization: `Bearer \${${token}}` } : {};
    const definition =
      url === undefined
        ? { command, args, env, cwd }
        : { type: "http", url, headers: { ...(isRecord(headers) ? headers : {}), ...authorization } };
    denyTools(name, server["disabled_tools"], { from, plan });
    leaveSettings(server, { enabled_tools: ONLY_SOME }, { from, plan });
    if (enabled === false) plan.leave(from, `MCP server ${name}`, OFF);
    else addServer(name, definition as { readonly [key: string]: Json | undefined }, { from, plan });
  }
  if (config["hooks"] !== undefined) addHooks(config["hooks"], { from, plan });
  const hookFile = join(folder, "hooks.json");
  const hooks = jsonFile(hookFile, plan)?.["hooks"];
  if (hooks !== undefined) addHooks(hooks, { from: hookFile, plan });
  addCodexModel(config, from, plan);
  leaveSettings(
    config,
    {
      model_providers: 'name them under "providers"',
      approval_policy: "say it for each run with --permission-mode, or set permissionMode",
      sandbox_mode: 'set "sandbox": { "mode": "on" }',
      notify: "write a hook for Stop or Notification",
      profiles: "there are none here",
    },
    { from, plan },
  );
  for (const name of filesOf(join(folder, "rules"))) addCodexRules(join(folder, "rules", name), plan);
  addMarkdown(join(folder, "prompts"), { kind: "command", plan });
  addSkills(join(folder, "skills"), plan);
}

const ONLY_SOME = "here a server has all its tools; name those it must not have under permissions, deny";

/** The tools of a server that are switched off there are denied here. */
function denyTools(
  server: string,
  tools: unknown,
  place: { readonly from: string; readonly plan: PlanBuilder },
): void {
  const part = serverParts([server]).get(server) ?? server;
  const rules = listed(tools).map((tool) => mcpNames(part, [tool]).get(tool) ?? tool);
  addRules(rules, { action: "deny", ...place });
}

function listed(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Its effort belongs to the name of the model here. */
function addCodexModel(config: Fields, from: string, plan: PlanBuilder): void {
  const { model, model_provider: provider = "openai", model_reasoning_effort: effort } = config;
  const end = EFFORTS.some((each) => each === effort) ? `:${String(effort)}` : "";
  if (provider !== "openai") leaveSettings(config, { model: OTHER_MODEL }, { from, plan });
  else addModel(typeof model === "string" ? `${model}${end}` : model, { provider, from, plan });
}

function addCodexRules(from: string, plan: PlanBuilder): void {
  const text = textOfFile(from, plan);
  if (text === undefined) return;
  const { rules, unread } = readCodexRules(text);
  for (const rule of rules) {
    const commands = commandsOf(rule);
    if (commands === undefined)
      plan.leave(from, `${rule.action}: ${rule.words.join(" ")}`, "it stands for too many commands");
    else
      addRules(
        commands.map((words) => `Bash(${words}:*)`),
        { action: rule.action, from, plan },
      );
  }
  for (const line of unread)
    plan.leave(
      from,
      `line ${line}`,
      "it is not a prefix_rule of plain words; write it as bash(…) under permissions",
    );
}

async function readGemini(place: ForeignPlace, plan: PlanBuilder): Promise<void> {
  const folder = join(place.home, ".gemini");
  const from = join(folder, "settings.json");
  const settings = jsonFile(from, plan) ?? {};
  addGeminiRules(settings, from, plan);
  const { allowed, excluded } = isRecord(settings["mcp"]) ? settings["mcp"] : {};
  for (const [name, server] of recordsIn(settings["mcpServers"])) {
    const { command, args, env, cwd, url, httpUrl, headers } = server;
    if (listed(excluded).includes(name) || (Array.isArray(allowed) && !listed(allowed).includes(name))) {
      plan.leave(from, `MCP server ${name}`, OFF);
      continue;
    }
    denyTools(name, server["excludeTools"], { from, plan });
    leaveSettings(server, { includeTools: ONLY_SOME }, { from, plan });
    const remote = httpUrl === undefined ? { type: "sse", url } : { type: "http", url: httpUrl };
    const isRemote = httpUrl !== undefined || url !== undefined;
    const definition = isRemote ? { ...remote, headers } : { command, args, env, cwd };
    addServer(name, definition as { readonly [key: string]: Json | undefined }, { from, plan });
  }
  addGeminiHooks(settings, from, plan);
  const { model } = settings;
  addModel(isRecord(model) ? model["name"] : model, { provider: "google", from, plan });
  const why = "say it for each run with --permission-mode, or set permissionMode";
  leaveSettings(settings, { approvalMode: why }, { from, plan });
  for (const path of filesOf(join(folder, "commands")).filter((name) => name.endsWith(".toml")))
    await addGeminiCommand(join(folder, "commands"), path, plan);
  addSkills(join(folder, "skills"), plan);
}

/** Events of the same meaning. */
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

/** Its groups have the form of ours, with a time in milliseconds. Matchers stay: their names of tools are known here. */
function addGeminiHooks({ hooks, hooksConfig }: Fields, from: string, plan: PlanBuilder): void {
  if (!isRecord(hooks)) return;
  const { enabled, disabled } = isRecord(hooksConfig) ? hooksConfig : hooks;
  if (enabled === false) {
    plan.leave(from, "hooks", HOOKS_OFF);
    return;
  }
  const off: ReadonlySet<unknown> = new Set(Array.isArray(disabled) ? disabled : []);
  const before = plan.items.length;
  for (const [name, groups] of Object.entries(hooks)) {
    const event = GEMINI_EVENTS[name];
    if (!Array.isArray(groups) || name === "disabled") continue;
    if (event === undefined) plan.leave(from, `hooks.${name}`, "there is no such event here");
    else addHooks({ [event]: groups.map((group: unknown) => ownGroup(group, off)) }, { from, plan });
  }
  if (plan.items.length > before)
    plan.notes.push(
      "Hooks of gemini are told the events of this agent (PreToolUse for BeforeTool, …), and its names of tools where their matcher names one: look whether their scripts ask for more.",
    );
}

function ownGroup(group: unknown, off: ReadonlySet<unknown>): unknown {
  if (!isRecord(group) || !Array.isArray(group["hooks"])) return group;
  const hooks = (group["hooks"] as readonly unknown[]).flatMap((hook) => {
    if (!isRecord(hook)) return [hook];
    if (off.has(hook["name"]) || off.has(hook["command"])) return [];
    const { timeout } = hook;
    return [{ ...hook, ...(typeof timeout === "number" ? { timeout: timeout / 1_000 } : {}) }];
  });
  return { ...group, hooks };
}

function addGeminiRules(settings: Fields, from: string, plan: PlanBuilder): void {
  const tools: Fields = isRecord(settings["tools"]) ? settings["tools"] : {};
  const lists = [
    ["allow", tools["allowed"] ?? settings["allowedTools"]],
    ["deny", tools["exclude"] ?? settings["excludeTools"]],
  ] as const;
  for (const [action, list] of lists) {
    for (const given of Array.isArray(list) ? (list as readonly unknown[]) : []) {
      const read = geminiRule(String(given), action);
      if ("rule" in read) addRules([read.rule], { action, from, plan });
      else plan.leave(from, `${action}: ${String(given)}`, read.why);
    }
  }
  leaveSettings(tools, { core: "name what it leaves out under permissions, deny" }, { from, plan });
}

type ReadRule = { readonly rule: string } | { readonly why: string };

/** Its names of tools, and of commands: a beginning there, a pattern here. */
function geminiRule(given: string, action: RuleAction): ReadRule {
  const [, name = "", pattern] = /^([\w-]+)(?:\((.*)\))?$/s.exec(given) ?? [];
  const tool = GEMINI_TOOLS[name];
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

async function addGeminiCommand(folder: string, path: string, plan: PlanBuilder): Promise<void> {
  const from = join(folder, path);
  const file = await tomlFile(from, plan);
  if (file === undefined) return;
  const { prompt, description } = file;
  const name = path.slice(0, -".toml".length).replaceAll(/[\\/]/g, ":");
  if (typeof prompt !== "string") {
    plan.leave(from, `/${name}`, "it has no prompt");
    return;
  }
  if (/!\{[^}]*\{\{args\}\}/.test(prompt) || /!\{[^}]*`/.test(prompt)) {
    plan.leave(from, `/${name}`, "it puts arguments (or backticks) into a command, which is not done here");
    return;
  }
  const body = prompt
    .replaceAll(/!\{([^{}]*)\}/g, (_all, command: string) => `!\`${command}\``)
    .replaceAll(/@\{([^{}\s]*)\}/g, (_all, file_: string) => `@${file_}`)
    .replaceAll("{{args}}", "$ARGUMENTS");
  const head =
    typeof description === "string" ? `---\ndescription: ${JSON.stringify(description)}\n---\n` : "";
  const to = join("commands", `${path.slice(0, -".toml".length)}.md`);
  plan.add({ kind: "command", name, from, to, text: `${head}${body.trim()}\n`, does: `/${name}` });
}

function readOpenCode(place: ForeignPlace, plan: PlanBuilder): void {
  const base = folderOf(place, "XDG_CONFIG_HOME", ".config");
  const folder = join(base, "opencode");
  for (const name of ["opencode.json", "opencode.jsonc", "config.json"]) {
    const from = join(folder, name);
    const config = jsonFile(from, plan);
    if (config !== undefined) readOpenCodeConfig(config, from, plan);
  }
  for (const kind of ["command", "agent"] as const)
    for (const name of [kind, `${kind}s`]) addMarkdown(join(folder, name), { kind, plan });
  for (const name of ["skill", "skills"]) addSkills(join(folder, name), plan);
  for (const name of ["plugin", "plugins"])
    for (const path of filesOf(join(folder, name)))
      plan.leave(
        join(folder, name, path),
        "plugin",
        "plugins of other agents are not loaded; see docs/extensions.md",
      );
}

function readOpenCodeConfig(config: Fields, from: string, plan: PlanBuilder): void {
  const { mcp, command } = config;
  for (const read of readOpenCodeRules(config))
    if ("rules" in read) addRules(read.rules, { action: read.action, from, plan });
    else plan.leave(from, read.what, read.why);
  for (const [name, server] of recordsIn(mcp)) {
    const { type, command: words, environment: env, url, headers, enabled } = server;
    const [first, ...args] = Array.isArray(words) ? (words as readonly Json[]) : [];
    const definition = type === "remote" ? { type: "http", url, headers } : { command: first, args, env };
    if (enabled === false) plan.leave(from, `MCP server ${name}`, OFF);
    else addServer(name, definition as { readonly [key: string]: Json | undefined }, { from, plan });
  }
  for (const [name, value] of recordsIn(command))
    if (!/^[\p{L}\p{N}_][\p{L}\p{N}_:/-]*$/u.test(name))
      plan.leave(from, `command ${JSON.stringify(name)}`, "use letters, digits, - and _ for a command");
    else if (typeof value["template"] === "string") {
      const fields = ["description", "agent", "model"].flatMap((key) =>
        typeof value[key] === "string" ? [`${key}: ${JSON.stringify(value[key])}\n`] : [],
      );
      const text = `---\n${fields.join("")}---\n${value["template"].trim()}\n`;
      plan.add({ kind: "command", name, from, to: join("commands", `${name}.md`), text, does: `/${name}` });
    }
  addModel(config["model"], { from, plan });
  leaveSettings(
    config,
    {
      provider: 'name them under "providers"',
      plugin: "plugins of other agents are not loaded; see docs/extensions.md",
      agent: "write each as a file in ~/.config/nano-agent/agents/",
    },
    { from, plan },
  );
}
