import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import { defined } from "../../core/base/defined.ts";
import { invalidConfig } from "../../core/base/errors.ts";
import { atPace } from "../../core/model/answer.ts";
import type { Budget } from "../../core/model/budget.ts";
import type { Effort, Model } from "../../core/model/model.ts";
import { isOffered, type Tool } from "../../core/tool/tool.ts";
import { MCP_PREFIX } from "../../extensions/mcp/tool-name.ts";
import { summaryCompaction } from "../../memory/context/summary-compaction.ts";
import type { ApprovalPrompt } from "../../permission/approval-prompt.ts";
import { LearnedModels } from "../../providers/learned-model.ts";
import { parseModelName } from "../../providers/model-name.ts";
import { RatePauses } from "../../providers/rate-pause.ts";
import { removeStaleTemporaryFiles } from "../../tools/files/temporary-file.ts";
import { about, type OnNotice } from "../../view/notice.ts";
import { type FoundServers, findMcpServers } from "../mcp/find-servers.ts";
import { loadMcp, type McpOpener, type OpenMcp } from "../mcp/open-mcp.ts";
import type { OpenHooksOptions } from "../plugins/open-hooks.ts";
import { openPlugins, type Plugins } from "../plugins/open-plugins.ts";
import type { SessionHooks } from "../plugins/session-hooks.ts";
import type { CodingSessionOptions } from "../session/coding-session.ts";
import { commandsOf, type SessionCommand } from "../session/session-command.ts";
import type { ConfigFile, PatternName } from "../settings/config-schema.ts";
import { parseDuration } from "../settings/duration.ts";
import type { Settings } from "../settings/settings.ts";
import { type BuiltinTools, type BuiltinToolsOptions, createBuiltinTools } from "./builtin-tools.ts";
import { type Checkpoints, openCheckpoints } from "./checkpoints.ts";
import { type ComposedExtensions, composeExtensions } from "./compose-extensions.ts";
import { type ComposedPermission, composePermission } from "./compose-permission.ts";
import { type Confinement, confine } from "./confine.ts";
import { FileGuard } from "./file-guard.ts";
import { readInstructions } from "./instructions.ts";
import { chooseModel, type ModelChoice } from "./model-choice.ts";
import { NO_PROXY_FORMS, unreadableNoProxy } from "./network-options.ts";
import { offeredTools } from "./offered-tools.ts";
import { type OpenMemory, openMemory } from "./open-memory.ts";
import { openModel } from "./open-model.ts";
import type { OpenSession } from "./open-session.ts";
import { systemPrompt } from "./system-prompt.ts";

/** The parts an agent is composed from beside its settings. */
export interface ComposeOptions
  extends Pick<
    CodingSessionOptions,
    "addDirs" | "acceptServer" | "adoptErrors" | "tools" | "ports" | "elicit" | "pace" | "budget"
  > {
  readonly settings: Settings;
  /** Opens the session the agent goes on from. Called last, when nothing else can fail. */
  readonly openSession: () => Promise<OpenSession>;
  readonly opened: () => OpenSession | undefined;
  /** True when this run may use the long-term memory its user has configured. */
  readonly remembers: boolean;
  /** Used instead of the model the settings name. */
  readonly model: Model | undefined;
  /** Asks a person what no rule decides; see {@link ComposedAgent.approve}. */
  readonly approval: ApprovalPrompt;
  /** The files the session has read, and the changes that the person was shown and agreed to. */
  readonly files: NonNullable<BuiltinToolsOptions["known"]>;
  readonly isAttended: () => boolean;
  readonly onNotice: OnNotice;
}

/** A model, and the reasoning asked of it. */
export interface ModelAndEffort {
  readonly model: Model;
  readonly effort?: Effort | undefined;
}

/** A terminal agent, ready to run. */
export interface ComposedAgent
  extends ComposedPermission,
    Pick<ComposedExtensions, "agents" | "skills">,
    Pick<Plugins, "status">,
    Omit<BuiltinTools, "tools"> {
  readonly agent: Agent;
  readonly session: OpenSession;
  /** The same agent anew from the journal, with another model if given. The old one must not be used. */
  readonly renew: (choice?: ModelAndEffort) => Promise<Agent>;
  readonly modelWhy: Pick<ModelChoice, "why" | "source">;
  /** The effort that the name of the model says. */
  readonly effort: Effort | undefined;
  readonly openModel: (name: string) => Promise<Model>;
  /** Hooks of the settings and of extensions; absent where there are none. */
  readonly hooks: SessionHooks | undefined;
  /** Commands that a message may begin with. */
  readonly commands: () => readonly SessionCommand[];
  readonly systemPrompt: string;
  /** Paths of the instruction files in it. */
  readonly instructions: readonly string[];
  readonly checkpoints: Checkpoints | undefined;
  readonly toolNames: readonly string[];
  readonly mcp: Pick<OpenMcp, "hub" | "statuses" | "findCommand">;
  readonly sandbox: Confinement["sandbox"];
  /** Removes what killed runs left half written, as far as a bounded look finds it. Never rejects. */
  readonly tidy: () => Promise<void>;
}

/**
 * Puts an agent together: model, tools, permission, sandbox, system prompt and limits. Makes no request, and
 * starts no process but those of a sandbox. Throws for a model, tool name or folder that does not exist, for
 * missing credentials, and for a sandbox that is on and does not work.
 */
export async function composeAgent(options: ComposeOptions): Promise<ComposedAgent> {
  const found = await findMcpServers(options.settings);
  const confinement = await confine({ ...options, servers: found.servers });
  const ending = new AbortController();
  const dispose = (): Promise<void> => {
    ending.abort();
    return confinement.dispose();
  };
  const confined = { ...confinement, dispose };
  try {
    return await composeConfined(options, { confined, found, until: ending.signal });
  } catch (error) {
    await confined.dispose();
    throw error;
  }
}

interface ConfinedParts {
  readonly confined: Confinement;
  readonly found: FoundServers;
  /** Aborted when the agent is not used any more. */
  readonly until: AbortSignal;
}

async function composeConfined(options: ComposeOptions, parts: ConfinedParts): Promise<ComposedAgent> {
  const { confined, found } = parts;
  const { onNotice, approval, isAttended, pace, budget } = options;
  const { workspace, redact } = confined;
  // Its modules load meanwhile: they are needed last.
  const loading = mcpOf(options, confined, found);
  const { settings, guard, builtin, plugins, hooks, tools: plain } = await openParts(options, parts);
  const { cwd, paths, folders } = settings;
  const config = settings.config.values;
  const memory = await openMemory(options.remembers ? config : {}, paths, about("memory", onNotice));
  const instructions = readInstructions(folders, about("instructions", onNotice));
  const warn = about("setting", onNotice);
  const open = modelOpener(settings, warn);
  const around = { settings, instructions, openModel: open, onNotice };
  const extended = await composeExtensions({ ...around, tools: plain });
  const { tools, agents, skills, readable } = extended;
  const { sandboxState, temporary } = confined;
  const reach = { sandbox: sandboxState, temporary, workspace, readable };
  const deciding = { approval, isAttended, guard, hooks, tools, memory, ...reach };
  const { permission, approve, lendRules } = composePermission(settings, deciding);
  confined.follow(permission);
  const { model, effort, ...modelWhy } = await chosenModel(options, open);
  const offered = offeredTools(tools, { forbids: permission.forbids, onNotice: warn });
  const mcp = (await loading)(permission.forbids);
  const session = await options.openSession();
  const undo = { settings, roots: workspace, session };
  const checkpoints = openCheckpoints({ ...undo, onNotice: about("undo", onNotice) });
  const prompt = systemPrompt({ ...config, instructions, cwd, platform: process.platform });
  const bounds = boundsOf(config, { pace, budget, hooks, redact, checkpoints });
  const fixed = { ...bounds, ...memory.agentOptions, permission, cwd, systemPrompt: prompt };
  const renew = (choice: ModelAndEffort = { model }): Promise<Agent> =>
    newAgent({ ...fixed, tools: offered(choice.model) }, { pattern: config.pattern, mcp, session, choice });
  const agent = await renew();
  return {
    agent,
    session,
    renew,
    modelWhy,
    effort,
    openModel: open,
    permission,
    approve,
    lendRules,
    hooks,
    checkpoints,
    mcp,
    agents,
    skills,
    status: plugins.status,
    systemPrompt: prompt,
    instructions: instructions.map(({ path }) => path),
    commands: () => commandsOf([...plugins.commands, extended.commands, mcp.commands]),
    toolNames: namesOf(agent.tools.list().filter(isOffered)),
    sandbox: confined.sandbox,
    ...aroundCalls({ builtin, checkpoints, memory, confined, mcp, hooks }),
    tidy: () => tidy(cwd),
  };
}

/** Built-in tools, and what commands, extensions and hooks of files bring. */
async function openParts(options: ComposeOptions, { confined, until }: ConfinedParts) {
  const { shell, workspace } = confined;
  const { settings: given, tools: added = [], ports, opened, onNotice, files: known } = options;
  // Assigned and not copied: a copy would read the environment of commands, which takes time and can wait.
  Object.assign(shell, { port: ports?.shell });
  const guard = new FileGuard();
  const files = { files: ports?.files, known, workspace, guard, temporary: confined.temporary };
  const builtin = createBuiltinTools({ settings: given, shell, ...files });
  const taken = [...builtin.tools, ...added];
  const { settings, ...plugins } = await openPlugins(given, { ...options, taken, until });
  const hooks = await hooksOf(settings, { handlers: plugins.handlers, shell, opened, onNotice });
  return { settings, guard, builtin, plugins, hooks, tools: [...taken, ...plugins.tools] };
}

interface AgentParts extends Pick<ComposedAgent, "session"> {
  readonly pattern: PatternName | undefined;
  readonly mcp: OpenMcp;
  readonly choice: ModelAndEffort;
}

/** An agent that has the tools of servers, and starts them beside its first request. */
async function newAgent(
  options: Omit<AgentOptions, "model">,
  { pattern, mcp, session, choice }: AgentParts,
): Promise<Agent> {
  const agent = await agentOf(pattern, {
    ...options,
    ...defined({ effort: choice.effort }),
    journal: session.journal,
    tools: [...(options.tools ?? []), ...mcp.tools()],
    model: mcp.modelFor(choice.model),
  });
  mcp.attach(agent.tools, () => usedTools(session));
  return agent;
}

/** The hooks there are. Their code is loaded where there is one. */
async function hooksOf(
  settings: Settings,
  { onNotice, ...parts }: Omit<OpenHooksOptions, "settings" | "onNotice"> & Pick<ComposeOptions, "onNotice">,
): Promise<SessionHooks | undefined> {
  if (settings.config.values.hooks === undefined && parts.handlers.length === 0) return undefined;
  const { openSessionHooks } = await import("../plugins/plugin-loaders.ts");
  return openSessionHooks({ ...parts, settings, onNotice: about("hook", onNotice) });
}

function namesOf(tools: readonly Tool[]): readonly string[] {
  return tools.map(({ name }) => name);
}

function mcpOf(
  { settings, elicit, onNotice }: ComposeOptions,
  { workspace: roots, redact, shell }: Confinement,
  found: FoundServers,
): Promise<McpOpener> {
  // Words of servers about themselves may hold what they were given.
  return loadMcp(settings, {
    found,
    roots,
    elicit,
    watcher: shell.watcher,
    onNotice: (text) => about("mcp", onNotice)(redact?.text(text) ?? text),
  });
}

interface CallParts extends Pick<ComposedAgent, "checkpoints" | "hooks"> {
  readonly builtin: BuiltinTools;
  readonly memory: OpenMemory;
  readonly confined: Confinement;
  readonly mcp: OpenMcp;
}

/** Hooks before the first calls and after the last. */
function aroundCalls({
  builtin,
  checkpoints,
  memory,
  confined,
  mcp,
  hooks,
}: CallParts): Pick<ComposedAgent, "prepare" | "runShell" | "watchJobs" | "dispose" | "killNow"> {
  return {
    prepare: async () => {
      await Promise.all([builtin.prepare(), checkpoints?.prepare()]);
    },
    runShell: builtin.runShell,
    watchJobs: builtin.watchJobs,
    dispose: async () => {
      memory.close();
      await Promise.all([builtin.dispose(), mcp.close()]);
      await checkpoints?.close();
      await confined.dispose();
    },
    killNow: () => {
      builtin.killNow();
      hooks?.killNow();
      mcp.killNow();
    },
  };
}

/** Tools of servers that the conversation so far has used: they are offered again. */
function usedTools({ journal }: OpenSession): ReadonlySet<string> {
  const used = new Set<string>();
  for (const entry of journal.entries())
    if (entry.type === "tool_intent" && entry.name.startsWith(MCP_PREFIX)) used.add(entry.name);
  return used;
}

async function tidy(cwd: string): Promise<void> {
  // Bounded, for a workspace may be a whole disk; what is left over stays until the next start.
  await removeStaleTemporaryFiles(cwd, { recursive: true, maxEntries: 20_000 }).catch(() => []);
}

/** Patterns are loaded when one is asked for: the plain loop starts without them. */
async function agentOf(pattern: PatternName | undefined, options: AgentOptions): Promise<Agent> {
  if (pattern === undefined) return new Agent(options);
  const { createPatternAgent } = await import("./pattern-agent.ts");
  return createPatternAgent(pattern, options);
}

async function chosenModel(
  { settings, model, acceptServer, onNotice }: ComposeOptions,
  open: (name: string) => Promise<Model>,
): Promise<Omit<ModelChoice, "name"> & ModelAndEffort> {
  if (model !== undefined) return { model, why: "flag", source: "command line" };
  const { config, environment } = settings;
  const { name, why, source } = await chooseModel({
    config,
    environment,
    accept: acceptServer,
    onNotice: about("setting", onNotice),
    waits: true,
  });
  return { model: await open(name), effort: parseModelName(name).effort, why, source };
}

/** The bounds of a run, its cost and its conversation, and the hooks around its calls. */
function boundsOf(
  config: ConfigFile,
  { hooks, redact, checkpoints: checkpointer, pace, budget }: AroundRuns,
): Partial<AgentOptions> {
  const compaction = config.compaction === false ? false : summaryCompaction(config.compaction);
  const wrapModel = pace && ((asked: Model): Model => atPace(asked, pace));
  return {
    maxIterations: config.maxTurns ?? Number.POSITIVE_INFINITY,
    onMaxIterations: "last",
    budget: { ...budgetOf(config), ...budget },
    compaction: compaction === false || hooks === undefined ? compaction : hooks.compactor(compaction),
    ...defined({ loopGuard: config.loopGuard, hooks: hooks?.agentHooks, redact, checkpointer, wrapModel }),
  };
}

type AroundRuns = Pick<ComposedAgent, "hooks" | "checkpoints"> &
  Pick<Confinement, "redact"> &
  Pick<ComposeOptions, "pace" | "budget">;

function budgetOf({ maxBudgetUsd: usd, maxWallTime }: ConfigFile): Budget {
  const wallTimeMs = maxWallTime === undefined ? undefined : parseDuration(maxWallTime);
  if (maxWallTime !== undefined && wallTimeMs === undefined)
    throw invalidConfig(`maxWallTime is "${maxWallTime}", which is not a time.`);
  return defined({ usd, wallTimeMs });
}

function modelOpener(
  { environment, config }: Settings,
  onNotice: (message: string) => void,
): (name: string) => Promise<Model> {
  for (const entry of unreadableNoProxy(config.values.network, environment))
    onNotice(`NO_PROXY: "${entry}" cannot be read and covers nothing. Write it like ${NO_PROXY_FORMS}.`);
  const shared = { pauses: new RatePauses(), learned: new LearnedModels() };
  return (name) => openModel(name, { environment, config: config.values, onNotice, ...shared, waits: true });
}
