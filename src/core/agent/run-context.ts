import { type Clock, systemClock } from "../base/clock.ts";
import { errorMessage, NanoAgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { Redaction } from "../base/redaction.ts";
import type { ToolUseBlock } from "../message/block.ts";
import { type Message, userMessage } from "../message/message.ts";
import type { Budget, Ledger } from "../model/ledger.ts";
import type { Effort, Model, RequestDefaults, ToolChoice } from "../model/model.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import type { SubagentOutcome, SubagentTask } from "../tool/tool.ts";
import type { Checkpointer } from "./checkpointer.ts";
import type { JournalEntry, NewEntry, UserEntry } from "./entry.ts";
import type { AgentEvent } from "./event.ts";
import type { Approvals, Approver, Gate } from "./gate.ts";
import type { Journal } from "./journal.ts";
import type { Plugin } from "./plugin.ts";
import type { SessionState } from "./session-state.ts";

/** The argument of `onMaxIterations` as a function. */
export interface MaxIterationsContext {
  readonly maxIterations: number;
  readonly messages: readonly Message[];
  /** The last text the model wrote, possibly empty. */
  readonly lastText: string;
}

/**
 * The way on when the model still asks for tools after `maxIterations` requests. `summarize`: one more
 * request with tools forbidden, whose text is the answer · `last`: the last text · `throw`:
 * {@link import("./result.ts").MaxIterationsError} · a function: its text.
 */
export type OnMaxIterations =
  | "summarize"
  | "last"
  | "throw"
  | ((context: MaxIterationsContext) => string | Promise<string>);

/**
 * How much of a run the conversation keeps. `full`: every message and tool call, so that the next question
 * can refer to them. `final-only`: the question and the answer; tool calls stand in the journal and in the
 * events, and are not sent again; a tool that the caller answers cannot be used then.
 */
export type ConversationMemory = "full" | "final-only";

/** The settings and limits of a run. Options of agents and runs have the same names, with explanations. */
export interface RunSettings {
  readonly toolChoice: ToolChoice | undefined;
  readonly maxIterations: number;
  readonly onMaxIterations: OnMaxIterations;
  readonly budget: Budget;
  readonly memory: ConversationMemory;
  readonly permission: Gate | undefined;
  readonly approve: Approver | undefined;
  readonly approvals: Approvals;
  readonly onAsk: "deny" | "pause";
  readonly openCalls: "close" | "run";
  readonly checkpointer: Checkpointer | undefined;
  readonly parallelToolCalls: boolean;
  readonly maxParallelToolCalls: number;
  readonly maxCallsPerAnswer: number;
  readonly toolTimeoutMs: number;
  readonly maxToolResultChars: number;
  readonly cwd: string;
  readonly context: unknown;
  readonly redact: Redaction | undefined;
  readonly clock: Clock;
  readonly wrapModel: (model: Model) => Model;
}

/** The settings with the defaults filled in. */
export function runSettings(given: Partial<RunSettings>): RunSettings {
  const settings: { [name: string]: unknown } = { ...DEFAULTS };
  for (const name in DEFAULTS) settings[name] = given[name as keyof RunSettings] ?? settings[name];
  return settings as unknown as RunSettings;
}

const DEFAULTS: RunSettings = {
  toolChoice: undefined,
  maxIterations: 20,
  onMaxIterations: "summarize",
  budget: {},
  memory: "full",
  permission: undefined,
  approve: undefined,
  approvals: {},
  onAsk: "deny",
  openCalls: "close",
  checkpointer: undefined,
  parallelToolCalls: true,
  maxParallelToolCalls: 64,
  maxCallsPerAnswer: 128,
  toolTimeoutMs: 600_000,
  maxToolResultChars: 400_000,
  cwd: "",
  context: undefined,
  redact: undefined,
  clock: systemClock,
  wrapModel: (model) => model,
};

/** The model that is asked, and the reasoning asked of it; no `effort` is the provider's default. */
export interface ModelChoice {
  readonly model: Model;
  readonly effort?: Effort;
}

/** A plugin around the steps of a run. */
export type RunPlugin = Plugin<RunContext>;

/** All that one run works with. Made by the agent, used by the loop; `state` and `failure` change. */
export interface RunContext extends RunSettings {
  /** The model of this request. */
  readonly model: Model;
  /** The model and effort of the next request of the conversation. */
  readonly choice: () => ModelChoice;
  readonly request: RequestDefaults;
  readonly tools: ToolRegistry;
  /** Name of the tool that must end the run (structured output), if any. */
  readonly finishTool: string | undefined;
  readonly plugins: readonly RunPlugin[];
  /** The first failure of a plugin that had no other way to end the run. */
  readonly failure: { error?: NanoAgentError };
  readonly startedAt: number;
  /** Shared with the nested runs inside. */
  readonly ledger: Ledger;
  readonly journal: Journal;
  readonly state: SessionState;
  /** Tag of its entries when it is a nested run. */
  readonly scope: string | undefined;
  /** Set when it is the run of a subagent. */
  readonly subagent?: SubagentPlace;
  readonly signal: AbortSignal;
  /** True when the run was let go of: nothing more is recorded then. */
  readonly isReleased: () => boolean;
  /** Takes the steering messages that came in since the last call. */
  readonly takeSteering: () => readonly NewEntry[];
  /** Runs a subagent for a tool call of this run. */
  readonly delegate: (run: RunContext, delegation: Delegation) => Promise<SubagentOutcome>;
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

/** The run as its next request is to be made: the model or its effort may have been changed meanwhile. */
export function withChoice(run: RunContext): RunContext {
  const { model, effort } = run.choice();
  if (model === run.model && effort === run.request.effort) return run;
  const { effort: _before, ...request } = run.request;
  return { ...run, model, request: effort === undefined ? request : { ...request, effort } };
}

/** The part of a run that keeps the record. */
export type Recorder = Pick<RunContext, "journal" | "state" | "emit" | "scope"> &
  Partial<Pick<RunContext, "isReleased">>;

/**
 * Stores an entry, folds it into the state and publishes it, in this order. An answer is published when it is
 * stored, which the records that follow from it may share: {@link recorded} waits for that. Rejects with
 * `journal` when an entry cannot be stored, and with `aborted` when the run was let go of.
 */
export async function record(run: Recorder, entry: NewEntry): Promise<JournalEntry> {
  if (run.isReleased?.() === true)
    throw new NanoAgentError("aborted", "The run was let go of: run() without an input goes on with it.");
  let stored: JournalEntry;
  try {
    stored = await run.journal.append(run.scope === undefined ? entry : { ...entry, scope: run.scope });
  } catch (error) {
    throw notStored(entry.type, error);
  }
  if (!isRecord(stored)) throw notStored(entry.type, "append() gave back no entry.");
  run.state.apply(stored);
  const flushing = entry.type === "assistant_message" ? run.journal.flush?.() : undefined;
  // Where it fails, so does the next record: the journal is of no use any more.
  if (flushing !== undefined)
    flushing.then(
      () => run.emit(stored),
      () => undefined,
    );
  else run.emit(stored);
  return stored;
}

/** Resolves when all records are stored and published; nothing where they are. Rejects with `journal`. */
export function recorded({ journal }: Pick<Recorder, "journal">): Promise<void> | undefined {
  return journal.flush?.().catch((error: unknown) => {
    throw notStored("assistant_message", error);
  });
}

/** Says something to the model in the name of loop, pattern or plugin. Rejects like {@link record}. */
export async function remark(
  run: Recorder,
  text: string,
  about: Pick<UserEntry, "code" | "circle"> = {},
): Promise<void> {
  await record(run, { type: "user_message", message: userMessage(text), source: "system", ...about });
}

function notStored(type: NewEntry["type"], error: unknown): NanoAgentError {
  return new NanoAgentError(
    "journal",
    `The journal could not store the ${type} record: ${errorMessage(error)}`,
    { cause: error },
  );
}
