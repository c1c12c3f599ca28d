import { Agent } from "../core/agent/agent.ts";
import type { Journal } from "../core/agent/journal.ts";
import type { AgentOptions, Budget } from "../core/agent/options.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import type { Model } from "../core/model/model.ts";
import { isOffered } from "../core/tool/registry.ts";
import { summaryCompaction } from "../memory/context/summary-compaction.ts";
import type { ApprovalPrompt } from "../permission/approval-prompt.ts";
import { RatePauses } from "../providers/rate-pause.ts";
import { removeStaleTemporaryFiles } from "../tools/files/temporary-file.ts";
import { type BuiltinTools, createBuiltinTools } from "./builtin-tools.ts";
import { type Checkpoints, openCheckpoints } from "./checkpoints.ts";
import { composeExtensions } from "./compose-extensions.ts";
import { composePermission } from "./compose-permission.ts";
import type { ConfigFile } from "./config/config-schema.ts";
import { parseDuration } from "./config/duration.ts";
import { variable } from "./config/env.ts";
import type { PatternName } from "./config/pattern-name.ts";
import type { PermissionMode } from "./config/permission-mode.ts";
import { type Confinement, confine } from "./confine.ts";
import { FileGuard } from "./file-guard.ts";
import { readInstructions } from "./instructions.ts";
import { markedJournal } from "./left-running.ts";
import { chooseModel, type ModelChoiceOptions } from "./model-choice.ts";
import { offeredTools } from "./offered-tools.ts";
import { openMemory } from "./open-memory.ts";
import { openModel } from "./open-model.ts";
import type { Settings } from "./settings.ts";
import { type SystemPromptParts, systemPrompt } from "./system-prompt.ts";
import { webFetchOptions } from "./web-fetch-options.ts";

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
  /** Asks a person whether a local server that was found, and not chosen, is to be used. Default: it is not. */
  readonly acceptServer?: ModelChoiceOptions["accept"];
  /** Asks a person what no rule decides. Default: nobody, and every question is a no. */
  readonly approval?: ApprovalPrompt | undefined;
  readonly onNotice: (message: string) => void;
}

/** A terminal agent, ready to run. */
export interface ComposedAgent {
  readonly agent: Agent;
  /** `provider/id`. */
  readonly model: string;
  /** Why it is that one; undefined for one that was passed in. */
  readonly modelSource: string | undefined;
  readonly toolNames: readonly string[];
  /** Names of the subagents and of the skills. */
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  readonly mode: PermissionMode;
  /** Whether commands are confined. */
  readonly sandbox: "on" | "off";
  /** Does ahead, while the first answer is awaited, what the first calls would wait for. Never rejects. */
  readonly prepare: () => Promise<void>;
  /** Removes what killed runs left half written in the workspace, as far as a bounded look finds it. Never rejects. */
  readonly tidy: () => Promise<void>;
  /** Ends everything the agent's tools started. */
  readonly dispose: () => Promise<void>;
  /** The same at once, for the moment before the process ends. */
  readonly killNow: () => void;
}

/**
 * Puts an agent together: model, tools, permission, sandbox, system prompt and limits. Makes no request, and starts no process but
 * those of a sandbox. Throws for
 * a model, tool name or folder that does not exist, for missing credentials, and for a sandbox that is on and does not work.
 */
export async function composeAgent(options: ComposeOptions): Promise<ComposedAgent> {
  const { mark, openJournal } = markedJournal(options);
  const confined = await confine(options);
  try {
    // Assigned and not copied: a copy would read the environment of commands, which takes time and can wait.
    Object.assign(confined.shell, { mark });
    return await composeConfined({ ...options, openJournal }, confined);
  } catch (error) {
    await confined.dispose();
    throw error;
  }
}

async function composeConfined(options: ComposeOptions, confined: Confinement): Promise<ComposedAgent> {
  const { settings, openJournal, approval, onNotice } = options;
  const { cwd, paths } = settings;
  const config = settings.config.values;
  const mode = config.permissionMode ?? "default";
  const pauses = new RatePauses();
  const { model, modelSource } = await modelOf(options, pauses);
  const guard = new FileGuard();
  const builtin = builtinTools(settings, confined, guard);
  const memory = await openMemory(options.remembers === true ? config : {}, paths, onNotice);
  const instructions = readInstructions(settings.folders, onNotice);
  const sandbox = confined.limits;
  const extended = { settings, instructions, pauses, onNotice, sandbox, tools: builtin.tools };
  const { agents, skills, readable, ...composed } = await composeExtensions(extended);
  const known = [...composed.tools.map((tool) => tool.name), ...memory.toolNames];
  const { workspace } = confined;
  const { forbidden, ...decides } = composePermission(settings, {
    mode,
    known,
    allowed: memory.toolNames,
    workspace,
    readable,
    guard,
    approval,
  });
  const tools = offeredTools(composed.tools, { model, forbidden, onNotice });
  const toolNames = [...tools.filter(isOffered).map((tool) => tool.name), ...memory.toolNames];
  const journal = await openJournal();
  const checkpoints = openCheckpoints({ settings, roots: workspace, journal, onNotice });
  const agent = await agentOf(config.pattern, {
    model,
    tools,
    systemPrompt: promptOf(config, { instructions, cwd, sandbox }),
    ...boundsOf(config),
    ...decides,
    ...memory.agentOptions,
    cwd,
    ...(confined.redact === undefined ? {} : { redact: confined.redact }),
    journal,
    ...(checkpoints && { checkpointer: checkpoints }),
  });
  return {
    agent,
    model: `${model.provider}/${model.id}`,
    modelSource,
    toolNames,
    agents,
    skills,
    mode,
    sandbox: confined.sandbox,
    ...aroundCalls(builtin, checkpoints, { closeMemory: () => memory.close(), confined }),
    tidy: () => tidy(cwd),
    killNow: builtin.killNow,
  };
}

function builtinTools(
  { config, environment, paths }: Settings,
  { shell, workspace }: Confinement,
  guard: FileGuard,
): BuiltinTools {
  return createBuiltinTools({
    shell,
    home: paths.home,
    workspace,
    searchPath: variable(environment, "PATH") ?? "",
    guard,
    extra: config.values.extraTools ?? [],
    webFetch: webFetchOptions(config.values, environment),
  });
}

/** What is done before the first calls and after the last. */
function aroundCalls(
  builtin: BuiltinTools,
  checkpoints: Checkpoints | undefined,
  endings: { readonly closeMemory: () => void; readonly confined: Confinement },
): Pick<ComposedAgent, "prepare" | "dispose"> {
  return {
    prepare: async () => {
      await Promise.all([builtin.prepare(), checkpoints?.prepare()]);
    },
    dispose: async () => {
      endings.closeMemory();
      await builtin.dispose();
      await checkpoints?.close();
      await endings.confined.dispose();
    },
  };
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

async function modelOf(
  { settings, model: given, acceptServer, onNotice }: ComposeOptions,
  pauses: RatePauses,
): Promise<{ readonly model: Model; readonly modelSource: string | undefined }> {
  if (given !== undefined) return { model: given, modelSource: undefined };
  const { config, environment } = settings;
  const { name, source } = await chooseModel({ config, environment, accept: acceptServer, onNotice });
  const model = await openModel(name, { environment, config: config.values, onNotice, pauses });
  return { model, modelSource: source };
}

/** What keeps a run, its cost and its conversation within bounds. */
function boundsOf(config: ConfigFile): Partial<AgentOptions> {
  return {
    maxIterations: config.maxTurns ?? Number.POSITIVE_INFINITY,
    onMaxIterations: "last",
    budget: budgetOf(config),
    ...(config.loopGuard === undefined ? {} : { loopGuard: config.loopGuard }),
    ...(config.maxCallsPerAnswer === undefined ? {} : { maxCallsPerAnswer: config.maxCallsPerAnswer }),
    compaction: config.compaction === false ? false : summaryCompaction(config.compaction),
  };
}

function budgetOf({ maxBudgetUsd, maxWallTime }: ConfigFile): Budget {
  const wallTimeMs = maxWallTime === undefined ? undefined : parseDuration(maxWallTime);
  if (maxWallTime !== undefined && wallTimeMs === undefined)
    throw new NanoAgentError("invalid_config", `maxWallTime is "${maxWallTime}", which is no time.`);
  return {
    ...(maxBudgetUsd === undefined ? {} : { usd: maxBudgetUsd }),
    ...(wallTimeMs === undefined ? {} : { wallTimeMs }),
  };
}
