import { type Clock, systemClock } from "../base/clock.ts";
import { errorMessage, NanoAgentError } from "../base/errors.ts";
import type { Redaction } from "../base/redaction.ts";
import type { ToolUseBlock } from "../message/block.ts";
import type { Model, RequestDefaults, ToolChoice } from "../model/model.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import type { SubagentOutcome, SubagentTask } from "../tool/tool.ts";
import type { Checkpointer } from "./checkpointer.ts";
import type { Compactor } from "./compactor.ts";
import type { JournalEntry, NewEntry } from "./entry.ts";
import type { AgentEvent } from "./event.ts";
import type { Approvals, Approver, Gate } from "./gate.ts";
import type { Hooks } from "./hooks.ts";
import type { Journal } from "./journal.ts";
import type { Ledger } from "./ledger.ts";
import type { LoopGuardSettings } from "./loop-guard.ts";
import { loopGuardSettings } from "./loop-guard-settings.ts";
import type {
  AgentOptions,
  Budget,
  ConversationMemory,
  OnMaxIterations,
  ResolvedOptions,
  RunOptions,
} from "./options.ts";
import type { SessionState } from "./session-state.ts";

/** What the options of an agent and of one run come to, defaults filled in. */
export interface RunSettings {
  readonly model: Model;
  readonly toolChoice: ToolChoice | undefined;
  readonly maxIterations: number;
  readonly onMaxIterations: OnMaxIterations;
  readonly budget: Budget;
  readonly memory: ConversationMemory;
  /** Absent: nobody looks for loops. */
  readonly loopGuard: LoopGuardSettings | undefined;
  readonly gate: Gate | undefined;
  readonly approve: Approver | undefined;
  readonly checkpointer: Checkpointer | undefined;
  readonly onAsk: "deny" | "pause";
  readonly openCalls: "close" | "run";
  readonly approvals: Approvals;
  readonly compactor: Compactor | undefined;
  readonly parallel: boolean;
  readonly maxParallel: number;
  readonly maxCallsPerAnswer: number;
  readonly toolTimeoutMs: number;
  readonly maxToolResultChars: number;
  readonly cwd: string;
  readonly redact: Redaction | undefined;
  readonly clock: Clock;
  readonly wrapModel: (model: Model) => Model;
}

/** The model that is asked, and the reasoning asked of it; no `effort` is the provider's default. */
export type ModelChoice = Pick<ResolvedOptions, "model" | "effort">;

/** Everything one run works with. Made by the agent, used by the loop and its phases; what changes is in `state`. */
export interface RunContext extends RunSettings {
  readonly tools: ToolRegistry;
  readonly request: RequestDefaults;
  /** What the next request of the conversation is to be made with; {@link RunContext.model} is what this one is made with. */
  readonly choice: () => ModelChoice;
  readonly startedAt: number;
  /** Shared with the nested runs inside. */
  readonly ledger: Ledger;
  readonly journal: Journal;
  readonly state: SessionState;
  /** Whether the run was let go of: nothing more is recorded then. */
  readonly isReleased: () => boolean;
  readonly signal: AbortSignal;
  /** Runs a subagent for a tool call of this run. */
  readonly delegate: (run: RunContext, delegation: Delegation) => Promise<SubagentOutcome>;
  /** Set when it is the run of a subagent. */
  readonly subagent?: SubagentPlace;
  readonly hooks: Hooks;
  /** Tag of its entries when it is a nested run. */
  readonly scope: string | undefined;
  /** Name of the tool that must end the run (structured output), if any. */
  readonly finishTool: string | undefined;
  /** Takes the steering messages that came in since the last call. */
  readonly takeSteering: () => readonly NewEntry[];
  readonly emit: (event: AgentEvent) => void;
}

/** A task that a tool call hands to a subagent. */
export interface Delegation {
  readonly call: ToolUseBlock;
  readonly task: SubagentTask;
  /** Counts the subagents of this call, from 1. */
  readonly number: number;
}

/** Where a subagent stands. */
export interface SubagentPlace {
  readonly agent: string;
  /** The tool call that started it. */
  readonly callId: string;
  /** 1 for one that the conversation started, 2 for one that such a subagent started. */
  readonly depth: number;
}

/** The settings of a run: its own options, else the agent's, else the defaults. */
export function runSettings(own: ResolvedOptions, options: RunOptions): RunSettings {
  return {
    ...callSettings(own),
    model: own.model,
    toolChoice: options.toolChoice ?? own.toolChoice,
    maxIterations: options.maxIterations ?? own.maxIterations ?? 20,
    onMaxIterations: own.onMaxIterations ?? "summarize",
    budget: own.budget ?? {},
    memory: own.memory ?? "full",
    loopGuard: loopGuardSettings(own.loopGuard),
    gate: own.permission,
    approve: options.approve ?? own.approve,
    checkpointer: own.checkpointer,
    onAsk: options.onAsk ?? own.onAsk ?? "deny",
    openCalls: options.openCalls ?? own.openCalls ?? "close",
    approvals: options.approvals ?? {},
    compactor: own.compaction === false ? undefined : own.compaction,
  };
}

/** The run as its next request is to be made: the model or its effort may have been changed meanwhile. */
export function withChoice(run: RunContext): RunContext {
  const { model, effort } = run.choice();
  if (model === run.model && effort === run.request.effort) return run;
  const { effort: _before, ...request } = run.request;
  return { ...run, model, request: effort === undefined ? request : { ...request, effort } };
}

function callSettings(
  own: AgentOptions,
): Pick<
  RunSettings,
  | "parallel"
  | "maxParallel"
  | "maxCallsPerAnswer"
  | "toolTimeoutMs"
  | "maxToolResultChars"
  | "cwd"
  | "redact"
  | "clock"
  | "wrapModel"
> {
  return {
    parallel: own.parallelToolCalls ?? true,
    maxParallel: own.maxParallelToolCalls ?? 64,
    maxCallsPerAnswer: own.maxCallsPerAnswer ?? 128,
    toolTimeoutMs: own.toolTimeoutMs ?? 600_000,
    maxToolResultChars: own.maxToolResultChars ?? 400_000,
    cwd: own.cwd ?? "",
    redact: own.redact,
    clock: own.clock ?? systemClock,
    wrapModel: own.wrapModel ?? ((model) => model),
  };
}

/** The part of a run that keeps the record. */
export type Recorder = Pick<RunContext, "journal" | "state" | "emit" | "scope"> &
  Partial<Pick<RunContext, "isReleased">>;

/**
 * Stores an entry, folds it into the state and publishes it, in this order. Rejects with `journal` when it cannot be stored, and with
 * `aborted` when the run was let go of.
 */
export async function record(run: Recorder, entry: NewEntry): Promise<JournalEntry> {
  if (run.isReleased?.() === true)
    throw new NanoAgentError("aborted", "The run was let go of: run() without an input goes on with it.");
  let stored: JournalEntry;
  try {
    stored = await run.journal.append(run.scope === undefined ? entry : { ...entry, scope: run.scope });
  } catch (error) {
    throw notStored(entry, error);
  }
  run.state.apply(stored);
  run.emit(stored);
  return stored;
}

function notStored({ type }: NewEntry, error: unknown): NanoAgentError {
  return new NanoAgentError(
    "journal",
    `The journal could not store the ${type} record: ${errorMessage(error)}`,
    { cause: error },
  );
}

/** The request fields an agent's options stand for. */
export function requestDefaults(options: AgentOptions, sessionId: string): RequestDefaults {
  const { systemPrompt, maxOutputTokens, temperature, topP, stopSequences, effort, providerOptions } =
    options;
  return {
    sessionId,
    ...(systemPrompt === undefined ? {} : { system: systemPrompt }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(stopSequences === undefined ? {} : { stopSequences }),
    ...(effort === undefined ? {} : { effort }),
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(options.parallelToolCalls === false ? { parallelToolCalls: false } : {}),
  };
}
