import { type Clock, systemClock } from "../base/async.ts";
import { errorMessage, NanoAgentError, toNanoAgentError } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";
import type { Redaction } from "../base/text.ts";
import { type Message, type ToolUseBlock, userMessage } from "../message/message.ts";
import { type Budget, BudgetLedger } from "../model/budget.ts";
import type { Effort, Model, RequestDefaults, StreamPart, ToolChoice } from "../model/model.ts";
import type { SubagentOutcome, SubagentTask, ToolRegistry } from "../tool/tool.ts";
import type { AgentEvent, JournalEntry, NewEntry, UserEntry } from "./entries.ts";
import type { Journal } from "./journal.ts";
import type { Approvals, Approver, Change, Checkpointer, Fold, Gate, Plugin } from "./ports.ts";
import type { SessionState } from "./state.ts";

/** The argument of a function for `onMaxIterations`. */
export interface MaxIterationsContext {
  readonly maxIterations: number;
  readonly messages: readonly Message[];
  /** The last text the model wrote; may be empty. */
  readonly lastText: string;
}

/**
 * What happens when the model still asks for tools after `maxIterations` requests. `summarize`: one more
 * request without tools, whose text is the answer · `last`: the last text is the answer · `throw`: {@link
 * import("./result.ts").MaxIterationsError} · a function: its text is the answer.
 */
export type OnMaxIterations =
  | "summarize"
  | "last"
  | "throw"
  | ((context: MaxIterationsContext) => string | Promise<string>);

/**
 * How much of a run the conversation keeps. `full`: every message and tool call, so that later questions can
 * refer to them. `final-only`: the question and the answer; tool calls are in the journal and the events but
 * are not sent again, and tools that the caller runs are not available.
 */
export type ConversationMemory = "full" | "final-only";

/** The model to ask, and how much it should reason; without `effort` the provider's default applies. */
export interface ModelSelection {
  readonly model: Model;
  readonly effort?: Effort;
}

export type RunPlugin = Plugin<Run>;

/** A run: its own parts, its settings, and what it shares with its nested runs. */
export interface Run {
  readonly settings: RunSettings;
  readonly shared: SharedParts;
  readonly journal: Journal;
  /** The fold of this transcript. */
  readonly state: SessionState;
  readonly tools: ToolRegistry;
  readonly until: RunEnd;
  /** Model and effort of the next request; both may change while the run is in progress. */
  readonly model: () => ModelSelection;
  readonly request: RequestDefaults;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
  /** Set for a nested run: the tag of its entries. */
  readonly scope: string | undefined;
  /** Set for the run of a subagent. */
  readonly subagent?: SubagentPlace;
}

/** The conditions that end a run without an answer. */
export interface RunEnd {
  /** Name of the tool that must end the run (structured output). */
  readonly finishTool: string | undefined;
  readonly toolChoice: ToolChoice | undefined;
  readonly maxIterations: number;
  readonly onMaxIterations: OnMaxIterations;
}

/** The options of an agent and of a run, documented there under the same names. */
export interface RunSettings extends Omit<RunEnd, "finishTool"> {
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

export interface SharedParts {
  /** `undefined` if neither money nor tokens are limited. */
  readonly ledger: BudgetLedger | undefined;
  readonly startedAt: number;
  readonly plugins: readonly RunPlugin[];
  /** The first error of a plugin that could not end the run at once. */
  readonly failure: { error?: NanoAgentError };
  /** True once the run was released: nothing more is recorded. */
  readonly isReleased: () => boolean;
  /** Takes the steering messages that came in since the last call. */
  readonly takeSteering: () => readonly NewEntry[];
  /** Starts the subagent that a tool call asks for. */
  readonly startSubagent: (run: Run, delegation: Delegation) => Promise<SubagentOutcome>;
}

/** The parts of a run that are not options. */
export interface RunParts
  extends Omit<Run, "settings" | "shared" | "until" | "scope" | "subagent">,
    Omit<SharedParts, "ledger" | "startedAt"> {
  readonly finishTool: string | undefined;
  /** Milliseconds it had taken when it resumed. */
  readonly workedMs: number;
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

export function newRun(given: Partial<RunSettings>, parts: RunParts): Run {
  const filled: { [name: string]: unknown } = { ...DEFAULTS };
  for (const name in DEFAULTS) filled[name] = given[name as keyof RunSettings] ?? filled[name];
  const settings = filled as unknown as RunSettings;
  const { toolChoice, maxIterations, onMaxIterations, clock, budget } = settings;
  const { plugins, failure, isReleased, takeSteering, startSubagent, finishTool, workedMs, ...own } = parts;
  const startedAt = clock.elapsed() - workedMs;
  const ledger = BudgetLedger.of(budget);
  return {
    ...own,
    settings,
    shared: { ledger, startedAt, plugins, failure, isReleased, takeSteering, startSubagent },
    until: { finishTool, toolChoice, maxIterations, onMaxIterations },
    scope: undefined,
  };
}

/** The request fields shared by all requests with the current effort. */
export function requestDefaults({ model, request }: Pick<Run, "model" | "request">): RequestDefaults {
  const { effort } = model();
  if (effort === request.effort) return request;
  const { effort: _before, ...others } = request;
  return effort === undefined ? others : { ...others, effort };
}

export interface Delegation {
  readonly call: ToolUseBlock;
  readonly task: SubagentTask;
  /** Counts the subagents of this call, from 1. */
  readonly number: number;
}

export interface SubagentPlace {
  readonly agent: string;
  readonly callId: string;
  /** 1 for a subagent started by the conversation, 2 for one started by such a subagent. */
  readonly depth: number;
}

/** The parts of a run that recording needs. */
export interface Recorder extends Pick<Run, "journal" | "state" | "emit" | "scope"> {
  readonly shared?: Pick<SharedParts, "isReleased">;
}

/**
 * Stores an entry, folds it into the state and publishes it, in that order. An answer may be published while
 * the records that follow from it are stored with it: {@link whenRecorded} waits for that. Rejects with
 * `journal` if an entry cannot be stored, and with `aborted` if the run was released.
 */
export async function record(run: Recorder, entry: NewEntry): Promise<JournalEntry> {
  if (run.shared?.isReleased() === true)
    throw new NanoAgentError("aborted", "The run was released: run() without an input resumes it.");
  let stored: JournalEntry;
  try {
    stored = await run.journal.append(run.scope === undefined ? entry : { ...entry, scope: run.scope });
  } catch (error) {
    throw storeError(entry.type, error);
  }
  if (!isRecord(stored)) throw storeError(entry.type, "append() gave back no entry.");
  run.state.apply(stored);
  const flushing = entry.type === "assistant_message" ? run.journal.flush?.() : undefined;
  // If it fails, the next record fails too: the journal is broken.
  if (flushing !== undefined)
    flushing.then(
      () => run.emit(stored),
      () => undefined,
    );
  else run.emit(stored);
  return stored;
}

/** Resolves when all records are stored and published; undefined if they are. Rejects with `journal`. */
export function whenRecorded({ journal }: Pick<Recorder, "journal">): Promise<void> | undefined {
  return journal.flush?.().catch((error: unknown) => {
    throw storeError("assistant_message", error);
  });
}

/** Sends the model a remark of the loop, a pattern or a plugin. Rejects like {@link record}. */
export async function recordSystemMessage(
  run: Recorder,
  text: string,
  about: Pick<UserEntry, "code" | "circle"> = {},
): Promise<void> {
  await record(run, { type: "user_message", message: userMessage(text), source: "system", ...about });
}

function storeError(type: NewEntry["type"], error: unknown): NanoAgentError {
  return new NanoAgentError(
    "journal",
    `The journal could not store the ${type} record: ${errorMessage(error)}`,
    { cause: error },
  );
}

/** Passes a value through the plugins in turn. Synchronous as long as none of them changes it. */
export function applyPlugins<T>(
  plugins: readonly RunPlugin[],
  value: T,
  step: (plugin: RunPlugin, value: T) => Change<T>,
): T | Promise<T> {
  let asked = 0;
  for (const plugin of plugins) {
    asked++;
    const making = step(plugin, value);
    if (making === undefined) continue;
    const others = plugins.slice(asked);
    return making.then((made) => applyPlugins(others, made ?? value, step));
  }
  return value;
}

/** Called before a request of the conversation. Patterns call it once for all their nested runs. */
export async function beforeTurn(run: Run): Promise<void> {
  for (const plugin of run.shared.plugins) {
    const preparing = plugin.beforeTurn?.(run);
    if (preparing !== undefined) await preparing;
  }
}

export function watchAnswer({ shared }: Run): (part: StreamPart) => void {
  const [first, ...others] = shared.plugins.flatMap((plugin) => plugin.watchAnswer?.() ?? []);
  return (part) => {
    first?.(part);
    for (const watch of others) watch(part);
  };
}

/** The folds that plugins want for every transcript. */
export function foldsOf(plugins: readonly RunPlugin[]): readonly (new () => Fold)[] {
  return plugins.flatMap(({ fold }) => fold ?? []);
}

/** Keeps a plugin's error, unless the run was aborted, so that the run ends with it after this turn. */
export function keepPluginFailure(run: Run, error: unknown): NanoAgentError {
  const failure = toNanoAgentError(error);
  if (!run.signal.aborted) run.shared.failure.error ??= failure;
  return failure;
}

/** Thrown to abandon an answer: it is kept without its surplus, and the run ends with `loop_detected`. */
export class AbortedAnswer extends NanoAgentError {
  /** How many characters at the end of its text are not kept. */
  readonly surplus: number;

  constructor(message: string, surplus: number) {
    super("invalid_response", message);
    this.surplus = surplus;
  }
}
