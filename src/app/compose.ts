import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { Approver } from "../core/agent/gate.ts";
import type { Journal } from "../core/agent/journal.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import type { Budget } from "../core/model/ledger.ts";
import type { Effort, Model } from "../core/model/model.ts";
import { atPace } from "../core/model/wrap-model.ts";
import { isOffered } from "../core/tool/registry.ts";
import type { Tool } from "../core/tool/tool.ts";
import type { Elicit } from "../extensions/mcp/connection.ts";
import { MCP_PREFIX } from "../extensions/mcp/tool-name.ts";
import type { AdoptErrors } from "../extensions/modules/load-extensions.ts";
import { summaryCompaction } from "../memory/context/summary-compaction.ts";
import type { ApprovalPrompt } from "../permission/approval-prompt.ts";
import type { PermissionMode } from "../permission/permission-mode.ts";
import { parseModelName } from "../providers/model-name.ts";
import { RatePauses } from "../providers/rate-pause.ts";
import { removeStaleTemporaryFiles } from "../tools/files/temporary-file.ts";
import type { BuiltinTools } from "./builtin-tools.ts";
import { type Checkpoints, openCheckpoints } from "./checkpoints.ts";
import type { SessionPorts } from "./coding-session/coding-session.ts";
import { about, type OnNotice } from "./coding-session/notice.ts";
import { commandsOf, type SessionCommand } from "./coding-session/session-command.ts";
import { composeExtensions } from "./compose-extensions.ts";
import { type ComposedPermission, composePermission } from "./compose-permission.ts";
import type { ConfigFile, PatternName } from "./config/config-schema.ts";
import { parseDuration } from "./config/duration.ts";
import { type Confinement, confine } from "./confine.ts";
import { readInstructions } from "./instructions.ts";
import { markedJournal } from "./left-running.ts";
import { type FoundServers, findMcpServers } from "./mcp/find-servers.ts";
import { type OpenMcp, openMcp } from "./mcp/open-mcp.ts";
import { chooseModel, type ModelChoice, type ModelChoiceOptions } from "./model-choice.ts";
import { offeredTools } from "./offered-tools.ts";
import { openMemory } from "./open-memory.ts";
import { openModel } from "./open-model.ts";
import type { PermissionGate } from "./permission-gate.ts";
import { openParts } from "./plugins/open-parts.ts";
import type { SessionHooks } from "./plugins/session-hooks.ts";
import type { Settings } from "./settings.ts";
import { type SystemPromptParts, systemPrompt } from "./system-prompt.ts";

/** What an agent is composed from beside its settings. */
export interface ComposeOptions {
  readonly settings: Settings;
  /** Folders beside the working folder that count as the workspace. */
  readonly addDirs?: readonly string[];
  /** Opens the journal the agent goes on from. Called last, when nothing else can fail. */
  readonly openJournal: () => Promise<Journal>;
  /** Whether this run may use the long-term memory its user has configured. Default false. */
  readonly remembers?: boolean;
  /** Used instead of the model the settings name. */
  readonly model?: Model;
  /**
   * Asks a person whether a local server that was found, and not chosen, is to be used. Default: it is not.
   */
  readonly acceptServer?: ModelChoiceOptions["accept"];
  /** See {@link import("./coding-session/coding-session.ts").CodingSessionOptions.adoptErrors}. */
  readonly adoptErrors?: AdoptErrors | undefined;
  /** Asked after each part of an answer; the next one is read when the promise is settled. */
  readonly pace?: (() => Promise<void> | undefined) | undefined;
  /** Tools beside the built-in ones. */
  readonly tools?: readonly Tool[];
  /** What files and commands go through instead of the system. */
  readonly ports?: SessionPorts | undefined;
  /** Asks a person what no rule decides; see {@link ComposedAgent.approve}. */
  readonly approval?: ApprovalPrompt | undefined;
  /** Asks a person what an MCP server wants to know; without it such questions are refused. */
  readonly elicit?: Elicit | undefined;
  /** Whether there is somebody to ask now. Default: where there is an `approval`. */
  readonly isAttended?: (() => boolean) | undefined;
  readonly onNotice: OnNotice;
}

/** A model, and the reasoning asked of it. */
export interface ModelAndEffort {
  readonly model: Model;
  readonly effort?: Effort | undefined;
}

/** A terminal agent, ready to run. */
export interface ComposedAgent {
  readonly agent: Agent;
  /**
   * The same agent anew, from what the journal holds now, with another model where one is given. The old one
   * is not to be used any more.
   */
  readonly renew: (choice?: ModelAndEffort) => Promise<Agent>;
  /** `provider/id`. */
  readonly model: string;
  readonly modelWhy: Pick<ModelChoice, "why" | "source">;
  /** What the name of the model says of it. */
  readonly effort: Effort | undefined;
  /** Opens a model by its name, `provider/id[:effort]`. */
  readonly openModel: (name: string) => Promise<Model>;
  /** Asks a person, where there is an `approval`: for runs that are attended. */
  readonly approve: Approver | undefined;
  /** {@link ComposedPermission.lendRules} */
  readonly lendRules: ComposedPermission["lendRules"];
  /** Hooks of the settings and of extensions; absent where there are none. */
  readonly hooks: SessionHooks | undefined;
  /** What a message may begin with. */
  readonly commands: () => readonly SessionCommand[];
  /** Texts of extensions for the status line. */
  readonly status: () => readonly string[];
  readonly permission: PermissionGate;
  readonly systemPrompt: string;
  readonly checkpoints: Checkpoints | undefined;
  readonly toolNames: readonly string[];
  /** Names of the subagents and of the skills. */
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  readonly mcp: Pick<OpenMcp, "hub" | "statuses" | "findCommand">;
  readonly mode: PermissionMode;
  /** Whether commands are confined. */
  readonly sandbox: "on" | "off";
  /** Does ahead, while the first answer is awaited, what the first calls would wait for. Never rejects. */
  readonly prepare: () => Promise<void>;
  /**
   * Removes what killed runs left half written in the workspace, as far as a bounded look finds it. Never
   * rejects.
   */
  readonly tidy: () => Promise<void>;
  /** Runs what a person typed, without asking anybody. */
  readonly runShell: BuiltinTools["runShell"];
  /** Ends everything the agent's tools started. */
  readonly dispose: () => Promise<void>;
  /** The same at once, for the moment before the process ends. */
  readonly killNow: () => void;
}

/**
 * Puts an agent together: model, tools, permission, sandbox, system prompt and limits. Makes no request, and
 * starts no process but those of a sandbox. Throws for a model, tool name or folder that does not exist, for
 * missing credentials, and for a sandbox that is on and does not work.
 */
export async function composeAgent(options: ComposeOptions): Promise<ComposedAgent> {
  const { mark, openJournal } = markedJournal(options);
  const found = await findMcpServers(options.settings);
  const confined = await confine({ ...options, servers: found.servers });
  try {
    // Assigned and not copied: a copy would read the environment of commands, which takes time and can wait.
    Object.assign(confined.shell, { mark });
    return await composeConfined({ ...options, openJournal }, { confined, found });
  } catch (error) {
    await confined.dispose();
    throw error;
  }
}

async function composeConfined(
  options: ComposeOptions,
  { confined, found }: { readonly confined: Confinement; readonly found: FoundServers },
): Promise<ComposedAgent> {
  const { onNotice, pace } = options;
  const { workspace, limits: sandbox } = confined;
  // What loads meanwhile is needed last.
  const opening = mcpOf(options, confined, found);
  const { settings, guard, builtin, plugins, hooks, openJournal } = await openParts(options, confined);
  const { cwd, environment, paths } = settings;
  const config = settings.config.values;
  const mode = config.permissionMode ?? "default";
  const memory = await openMemory(options.remembers === true ? config : {}, paths, about("memory", onNotice));
  const instructions = readInstructions(settings.folders, about("instructions", onNotice));
  const pauses = new RatePauses();
  const around = { settings, instructions, pauses, onNotice, sandbox, tools: plugins.tools };
  const { readable, tools: all, commands, ...named } = await composeExtensions(around);
  const known = [...namesOf(all), ...memory.toolNames];
  const decided = { mode, known, allowed: memory.toolNames, workspace, readable, guard, hooks };
  const { permission, ...asked } = composePermission(settings, { ...options, ...decided });
  const warn = about("setting", onNotice);
  const open = (name: string): Promise<Model> =>
    openModel(name, { environment, config, onNotice: warn, pauses });
  const { model, effort, ...modelWhy } = await chosenModel(options, open);
  const offered = (chosen: Model): readonly Tool[] =>
    offeredTools(all, { model: chosen, forbidden: permission.forbidden, onNotice: warn });
  const tools = offered(model);
  const mcp = await opening;
  const journal = await openJournal();
  const undo = { settings, roots: workspace, journal };
  const checkpoints = openCheckpoints({ ...undo, onNotice: about("undo", onNotice) });
  const prompt = promptOf(config, { instructions, cwd, sandbox });
  const fixed = { permission, cwd, journal, systemPrompt: prompt, ...memory.agentOptions };
  const agentOptions = agentOptionsOf(config, confined, { ...fixed, checkpoints, sessionHooks: hooks, pace });
  const renew = (choice: ModelAndEffort = { model }): Promise<Agent> => {
    const own = choice.model === model ? tools : offered(choice.model);
    return agentWithServers(mcp, choice, { ...config, options: { ...agentOptions, tools: own } });
  };
  return {
    agent: await renew(),
    renew,
    model: `${model.provider}/${model.id}`,
    modelWhy,
    effort,
    openModel: open,
    ...asked,
    permission,
    hooks,
    commands: () => commandsOf([...plugins.commands, commands, mcp.commands]),
    status: plugins.status,
    mode,
    systemPrompt: prompt,
    mcp,
    toolNames: [...namesOf(tools.filter(isOffered)), ...memory.toolNames, ...namesOf(mcp.tools())],
    ...named,
    sandbox: confined.sandbox,
    checkpoints,
    ...aroundCalls(builtin, checkpoints, { closeMemory: () => memory.close(), confined, mcp, hooks }),
    tidy: () => tidy(cwd),
  };
}

interface AroundAgent {
  readonly checkpoints: Checkpoints | undefined;
  readonly sessionHooks: SessionHooks | undefined;
  readonly pace: ComposeOptions["pace"];
}

function agentOptionsOf(
  config: ConfigFile,
  { redact }: Confinement,
  { checkpoints, sessionHooks, pace, ...fixed }: Omit<AgentOptions, "model"> & AroundAgent,
): Omit<AgentOptions, "model"> {
  return {
    ...boundsOf(config, sessionHooks),
    ...fixed,
    ...(redact && { redact }),
    ...(checkpoints && { checkpointer: checkpoints }),
    ...(pace && { wrapModel: (model) => atPace(model, pace) }),
  };
}

function namesOf(tools: readonly Tool[]): readonly string[] {
  return tools.map(({ name }) => name);
}

/** An agent that has the tools of servers, and starts them beside its first request. */
async function agentWithServers(
  mcp: OpenMcp,
  { model, effort }: ModelAndEffort,
  { pattern, options }: Pick<ConfigFile, "pattern"> & { readonly options: Omit<AgentOptions, "model"> },
): Promise<Agent> {
  const agent = await agentOf(pattern, {
    ...options,
    tools: [...(options.tools ?? []), ...mcp.tools()],
    model: mcp.modelFor(model),
    ...(effort === undefined ? {} : { effort }),
  });
  const { journal } = options;
  await mcp.attach(agent.tools, async () => (journal === undefined ? new Set() : usedTools(journal)));
  return agent;
}

function mcpOf(
  { settings, elicit, onNotice }: ComposeOptions,
  { workspace: roots, redact }: Confinement,
  found: FoundServers,
): Promise<OpenMcp> {
  // What servers say of themselves may hold what they were given.
  return openMcp(settings, {
    found,
    roots,
    elicit,
    onNotice: (text) => about("mcp", onNotice)(redact?.text(text) ?? text),
  });
}

/** What is done before the first calls and after the last. */
function aroundCalls(
  builtin: BuiltinTools,
  checkpoints: Checkpoints | undefined,
  endings: {
    readonly closeMemory: () => void;
    readonly confined: Confinement;
    readonly mcp: Pick<OpenMcp, "close" | "killNow">;
    readonly hooks: SessionHooks | undefined;
  },
): Pick<ComposedAgent, "prepare" | "runShell" | "dispose" | "killNow"> {
  return {
    prepare: async () => {
      await Promise.all([builtin.prepare(), checkpoints?.prepare()]);
    },
    runShell: builtin.runShell,
    dispose: async () => {
      endings.closeMemory();
      await Promise.all([builtin.dispose(), endings.mcp.close()]);
      await checkpoints?.close();
      await endings.confined.dispose();
    },
    killNow: () => {
      builtin.killNow();
      endings.hooks?.killNow();
      endings.mcp.killNow();
    },
  };
}

/** Tools of servers that the conversation so far has used: they are offered again. */
async function usedTools(journal: Journal): Promise<ReadonlySet<string>> {
  const used = new Set<string>();
  for await (const entry of journal.entries())
    if (entry.type === "tool_intent" && entry.name.startsWith(MCP_PREFIX)) used.add(entry.name);
  return used;
}

function promptOf(
  { systemPrompt: base, appendSystemPrompt: append }: ConfigFile,
  place: Pick<SystemPromptParts, "instructions" | "cwd" | "sandbox">,
): string {
  return systemPrompt({ base, append, ...place, platform: process.platform });
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
  });
  return { model: await open(name), effort: parseModelName(name).effort, why, source };
}

/** What keeps a run, its cost and its conversation within bounds, and what stands around its calls. */
function boundsOf(config: ConfigFile, hooks: SessionHooks | undefined): Partial<AgentOptions> {
  const compaction = config.compaction === false ? false : summaryCompaction(config.compaction);
  return {
    maxIterations: config.maxTurns ?? Number.POSITIVE_INFINITY,
    onMaxIterations: "last",
    budget: budgetOf(config),
    ...(config.loopGuard === undefined ? {} : { loopGuard: config.loopGuard }),
    compaction: compaction === false || hooks === undefined ? compaction : hooks.compactor(compaction),
    ...(hooks === undefined ? {} : { hooks: hooks.agentHooks }),
  };
}

function budgetOf({ maxBudgetUsd, maxWallTime }: ConfigFile): Budget {
  const wallTimeMs = maxWallTime === undefined ? undefined : parseDuration(maxWallTime);
  if (maxWallTime !== undefined && wallTimeMs === undefined)
    throw new NanoAgentError("invalid_config", `maxWallTime is "${maxWallTime}", which is not a time.`);
  return {
    ...(maxBudgetUsd === undefined ? {} : { usd: maxBudgetUsd }),
    ...(wallTimeMs === undefined ? {} : { wallTimeMs }),
  };
}
