import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import type { Approver } from "../../core/agent/ports.ts";
import { invalidConfig } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { withBackpressure } from "../../core/model/answer.ts";
import type { Effort, Model } from "../../core/model/model.ts";
import { MCP_PREFIX } from "../../extensions/mcp/tool-name.ts";
import type { Compactor } from "../../memory/context/compactor.ts";
import { summaryCompaction } from "../../memory/context/summary-compaction.ts";
import { type ApprovalPrompt, createApprover } from "../../permission/approver.ts";
import { SessionRules } from "../../permission/rule.ts";
import { LearnedModels, RatePauses } from "../../providers/model-call.ts";
import { chooseModel, type ModelChoice } from "../../providers/model-choice.ts";
import { parseModelName } from "../../providers/model-info.ts";
import { invalidNoProxyEntries, NO_PROXY_EXAMPLES } from "../../providers/network-options.ts";
import { isWithin, realPath } from "../../system/real-path.ts";
import { type OnNotice, warnAbout } from "../../view/notice.ts";
import { type FoundServers, findMcpServers, unusableServerText } from "../mcp/find-servers.ts";
import type { OpenMcp } from "../mcp/mcp-parts.ts";
import { openPlugins, type Plugins } from "../plugins/open-plugins.ts";
import type { OpenHooksOptions, SessionHooks } from "../plugins/session-hooks.ts";
import type { CodingSessionOptions, McpServerView } from "../session/coding-session.ts";
import { firstOfEachName, type SessionCommand } from "../session/session-command.ts";
import type { ConfigFile, PatternName } from "../settings/config-schema.ts";
import { parseDuration } from "../settings/setting.ts";
import type { Settings } from "../settings/settings.ts";
import {
  type BuiltinTools,
  type BuiltinToolsOptions,
  createBuiltinTools,
  offeredTools,
} from "./builtin-tools.ts";
import { type Checkpoints, openCheckpoints } from "./checkpoints.ts";
import { type Confinement, confine } from "./confine.ts";
import { openMemory } from "./open-memory.ts";
import { openModel } from "./open-model.ts";
import type { OpenSession } from "./open-session.ts";
import { createPermissionGate, FileGuard, type PermissionGate } from "./permission-gate.ts";
import { type ComposedExtensions, composeExtensions } from "./subagents-and-skills.ts";
import { type Instructions, readInstructions, systemPrompt } from "./system-prompt.ts";

export interface ComposeOptions
  extends Pick<
    CodingSessionOptions,
    "addDirs" | "acceptServer" | "adoptErrors" | "tools" | "ports" | "elicit" | "pace" | "budget"
  > {
  readonly settings: Settings;
  /** Opens the session. Called last, when nothing else can fail. */
  readonly openSession: () => Promise<OpenSession>;
  readonly opened: () => OpenSession | undefined;
  /** True if this run may use the long-term memory its user has configured. */
  readonly remembers: boolean;
  readonly model: Model | undefined;
  readonly approval: ApprovalPrompt;
  /** The files the session has read, and the changes the person saw and agreed to. */
  readonly files: NonNullable<BuiltinToolsOptions["known"]>;
  readonly isAttended: () => boolean;
  readonly onNotice: OnNotice;
}

export interface ModelAndEffort {
  readonly model: Model;
  readonly effort?: Effort | undefined;
}

export interface Composition {
  readonly agent: Agent;
  /** Recreates the agent from the journal, with another model if given. The old one must not be used. */
  readonly renew: (choice?: ModelAndEffort) => Promise<Agent>;
  readonly session: OpenSession;
  readonly chosen: ChosenModel;
  readonly openModel: (name: string) => Promise<Model>;
  readonly gate: PermissionGate;
  /** Asks a person; only for attended runs. */
  readonly approve: Approver;
  readonly rules: SessionRules;
  readonly builtin: BuiltinTools;
  readonly extensions: ComposedExtensions;
  readonly plugins: Plugins;
  /** Hooks of the settings and of extensions; absent if there are none. */
  readonly hooks: SessionHooks | undefined;
  /** The MCP servers; absent if none is usable. */
  readonly mcp: OpenMcp | undefined;
  readonly mcpStatuses: () => readonly McpServerView[];
  readonly checkpoints: Checkpoints | undefined;
  readonly confinement: Confinement;
  readonly systemPrompt: string;
  readonly instructions: readonly Instructions[];
  readonly commands: () => readonly SessionCommand[];
  readonly dispose: () => Promise<void>;
  /** Does the same synchronously, right before the process ends. */
  readonly killNow: () => void;
}

export type ChosenModel = ModelAndEffort & Pick<ModelChoice, "why" | "source">;

/**
 * Composes an agent. Makes no request and starts no process. Throws if a model, tool, folder or credentials
 * are missing.
 */
export async function compose(options: ComposeOptions): Promise<Composition> {
  const servers = await findMcpServers(options.settings);
  const confinement = await confine({ ...options, servers: servers.servers });
  const ending = new AbortController();
  const release = (): Promise<void> => {
    ending.abort();
    return confinement.dispose();
  };
  try {
    const found = await find(options, servers, confinement, ending.signal);
    const decided = await decide(options, found);
    return await open(options, found, decided, release);
  } catch (error) {
    await release();
    throw error;
  }
}

type Findings = Awaited<ReturnType<typeof find>>;
type Decisions = Awaited<ReturnType<typeof decide>>;

/** First: the tools, commands, extensions, hooks, instructions and memory of the folder. */
async function find(
  options: ComposeOptions,
  servers: FoundServers,
  confinement: Confinement,
  stopSignal: AbortSignal,
) {
  const { settings: given, tools: added = [], ports, elicit, opened, onNotice, files: known } = options;
  const { shell, workspace, temporary, redact } = confinement;
  // Text from servers may contain secrets they were given.
  const onMcpNotice = (text: string): void => warnAbout("mcp", onNotice)(redact?.text(text) ?? text);
  for (const fault of servers.problems) onMcpNotice(unusableServerText(fault));
  // Needed last, so it loads in the background.
  const mcpParts = servers.servers.length === 0 ? undefined : import("../mcp/mcp-parts.ts");
  // Assigned, not copied: a copy would read the environment of commands, which takes time and can wait.
  Object.assign(shell, { port: ports?.shell });
  const guard = new FileGuard();
  const files = { files: ports?.files, known, workspace, guard, temporary };
  const builtin = createBuiltinTools({ settings: given, shell, ...files });
  const ownTools = [...builtin.tools, ...added];
  const plugins = await openPlugins(given, { ...options, taken: ownTools, stopSignal });
  const { settings, handlers } = plugins;
  const config = settings.config.values;
  const hooks = await hooksOf({ settings, handlers, shell, opened, onNotice: warnAbout("hook", onNotice) });
  const memory = await openMemory(
    options.remembers ? config : {},
    settings.paths,
    warnAbout("memory", onNotice),
  );
  const instructions = readInstructions(settings.folders, warnAbout("instructions", onNotice));
  const openModel = modelOpener(settings, warnAbout("setting", onNotice));
  const tools = [...ownTools, ...plugins.tools];
  const extensions = await composeExtensions(settings, tools, instructions, openModel, onNotice);
  const parts = { builtin, plugins, hooks, memory, instructions, extensions };
  const openMcp = async (forbids: PermissionGate["forbids"]): Promise<OpenMcp | undefined> => {
    const { OpenMcp: Loaded } = (await mcpParts) ?? {};
    const host = { roots: workspace, elicit, watcher: shell.watcher };
    return Loaded && new Loaded(given, { ...servers, ...host, onNotice: onMcpNotice, forbids });
  };
  return { confinement, settings, guard, servers, openMcp, openModel, ...parts };
}

/** Second: permission, the model, and the tools it is offered. Nothing is written yet. */
async function decide(options: ComposeOptions, found: Findings) {
  const { settings, confinement, guard, hooks, memory, extensions } = found;
  const { sandboxState: sandbox, temporary, workspace } = confinement;
  const { approval, isAttended } = options;
  const { tools, readable } = extensions;
  const rules = new SessionRules();
  const plain = createPermissionGate(settings, {
    workspace,
    temporary,
    sandbox,
    readable,
    guard,
    isAttended,
    session: rules,
    tools: tools.map(({ name }) => name),
    allowed: memory.toolNames,
  });
  const gate = hooks?.gate(plain) ?? plain;
  const { configFolder } = settings.paths;
  const approve = createApprover({
    prompt: approval,
    session: rules,
    recheck: (request) => gate.check(request),
    isInside: (place) => isWithin(place, ...workspace.map(realPath)),
    onModeChange: gate.onModeChange,
    remember: async (rule) =>
      (await import("../settings/saved-rules.ts")).saveRule(rule, { configFolder, cwd: settings.cwd }),
  });
  confinement.follow(gate);
  const chosen = await chosenModel(options, found.openModel);
  const onNotice = warnAbout("setting", options.onNotice);
  const toolsFor = offeredTools(tools, gate.forbids, onNotice);
  const approveAfterHooks = hooks?.approver(approve) ?? approve;
  const permission = { gate, approve: approveAfterHooks, rules };
  return { permission, chosen, toolsFor, mcp: await found.openMcp(gate.forbids) };
}

/** Last, when nothing else can fail: the session, undo and the agent. */
async function open(
  options: ComposeOptions,
  found: Findings,
  { permission, chosen, toolsFor, mcp }: Decisions,
  release: () => Promise<void>,
): Promise<Composition> {
  const { settings, confinement, builtin, plugins, hooks, memory, instructions, extensions } = found;
  const config = settings.config.values;
  const session = await options.openSession();
  const warn = warnAbout("undo", options.onNotice);
  const checkpoints = openCheckpoints(settings, confinement.workspace, session, warn);
  const prompt = systemPrompt({ ...config, instructions, cwd: settings.cwd, platform: process.platform });
  const baseOptions = {
    ...limitsOf(config, options),
    ...memory.agentOptions,
    ...omitUndefined({ hooks: hooks?.agentHooks, redact: confinement.redact, checkpointer: checkpoints }),
    compaction: compactionOf(config, hooks),
    permission: permission.gate,
    cwd: settings.cwd,
    systemPrompt: prompt,
    journal: session.journal,
  };
  const renew = async ({ model, effort }: ModelAndEffort = { model: chosen.model }): Promise<Agent> => {
    const tools = [...toolsFor(model), ...(mcp?.hub.tools() ?? [])];
    const own = { ...omitUndefined({ effort }), tools, model: mcp?.modelFor(model) ?? model };
    const agent = await agentOf(config.pattern, { ...baseOptions, ...own });
    mcp?.attach(agent.tools, usedTools(session));
    return agent;
  };
  return {
    agent: await renew(),
    renew,
    session,
    chosen,
    openModel: found.openModel,
    ...permission,
    builtin,
    extensions,
    plugins,
    hooks,
    mcp,
    mcpStatuses: () => [...unusableServers(found.servers), ...(mcp?.statuses() ?? [])],
    checkpoints,
    confinement,
    systemPrompt: prompt,
    instructions,
    commands: () => firstOfEachName(plugins.commands, extensions.commands, mcp?.commands()),
    dispose: async () => {
      memory.close();
      await Promise.all([builtin.shell.dispose(), mcp?.close()]);
      await checkpoints?.close();
      await release();
    },
    killNow: () => {
      builtin.shell.killNow();
      hooks?.killNow();
      mcp?.hub.killNow();
    },
  };
}

/** The servers whose definition cannot be used; `*` is a file without any. */
function unusableServers({ problems }: FoundServers): readonly McpServerView[] {
  return problems.flatMap(({ name, problem: error }) =>
    name === "*" ? [] : { name, status: "failed", error },
  );
}

/** The hooks, if any. Their code is loaded only if there is one. */
async function hooksOf(options: OpenHooksOptions): Promise<SessionHooks | undefined> {
  const { settings, handlers } = options;
  if (settings.config.values.hooks === undefined && handlers.length === 0) return undefined;
  const { openSessionHooks } = await import("../plugins/plugin-loaders.ts");
  return openSessionHooks(options);
}

/** MCP tools that the conversation has already used: they are offered to the model again. */
function usedTools({ journal }: OpenSession): ReadonlySet<string> {
  const used = new Set<string>();
  for (const entry of journal.entries())
    if (entry.type === "tool_intent" && entry.name.startsWith(MCP_PREFIX)) used.add(entry.name);
  return used;
}

/** Patterns are loaded on demand: the plain loop starts without them. */
async function agentOf(pattern: PatternName | undefined, options: AgentOptions): Promise<Agent> {
  if (pattern === undefined) return new Agent(options);
  const { createPatternAgent } = await import("./pattern-agent.ts");
  return createPatternAgent(pattern, options);
}

async function chosenModel(
  { settings, model, acceptServer: accept, onNotice }: ComposeOptions,
  openByName: (name: string) => Promise<Model>,
): Promise<ChosenModel> {
  if (model !== undefined) return { model, why: "flag", source: "command line" };
  const { config, environment } = settings;
  const asking = { accept, onNotice: warnAbout("setting", onNotice), waits: true };
  const { name, why, source } = await chooseModel({ config, environment, ...asking });
  return { model: await openByName(name), effort: parseModelName(name).effort, why, source };
}

function limitsOf(
  { maxTurns, maxBudgetUsd: usd, maxWallTime, loopGuard }: ConfigFile,
  { pace, budget }: Pick<ComposeOptions, "pace" | "budget">,
): Partial<AgentOptions> {
  const wallTimeMs = maxWallTime === undefined ? undefined : parseDuration(maxWallTime);
  if (maxWallTime !== undefined && wallTimeMs === undefined)
    throw invalidConfig(`maxWallTime is "${maxWallTime}", which is not a time.`);
  const wrapModel = pace && ((asked: Model): Model => withBackpressure(asked, pace));
  return {
    maxIterations: maxTurns ?? Number.POSITIVE_INFINITY,
    onMaxIterations: "last",
    budget: { ...omitUndefined({ usd, wallTimeMs }), ...budget },
    ...omitUndefined({ loopGuard, wrapModel }),
  };
}

function compactionOf(config: ConfigFile, hooks: SessionHooks | undefined): Compactor | false {
  if (config.compaction === false) return false;
  const compaction = summaryCompaction(config.compaction);
  return hooks === undefined ? compaction : hooks.compactor(compaction);
}

function modelOpener(
  { environment, freshEnvironment, config }: Settings,
  onNotice: (message: string) => void,
): (name: string) => Promise<Model> {
  for (const entry of invalidNoProxyEntries(config.values.network, environment))
    onNotice(`NO_PROXY: "${entry}" cannot be read and covers nothing. Write it like ${NO_PROXY_EXAMPLES}.`);
  const shared = { pauses: new RatePauses(), learned: new LearnedModels() };
  return (name) =>
    openModel(name, {
      environment: freshEnvironment(),
      config: config.values,
      onNotice,
      ...shared,
      waits: true,
    });
}
