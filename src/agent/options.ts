import type { AgentEvent } from "../core/agent/entries.ts";
import type { Journal } from "../core/agent/journal.ts";
import type { Approvals, Approver, Checkpointer, Gate } from "../core/agent/ports.ts";
import type { ConversationMemory, OnMaxIterations } from "../core/agent/run.ts";
import type { Clock } from "../core/base/async.ts";
import {
  checkOptions,
  type OptionSchema,
  objectSchema,
  type Properties,
} from "../core/base/check-options.ts";
import { assertEngine, invalidArgument, type Json } from "../core/base/errors.ts";
import type { NewId } from "../core/base/ids.ts";
import type { InferSchema, JsonSchema, SchemaInput } from "../core/base/schema.ts";
import type { Redaction } from "../core/base/text.ts";
import type { GivenMessage } from "../core/message/input.ts";
import { BUDGET, type Budget } from "../core/model/budget.ts";
import { EFFORTS, type Effort, type Model, type ToolChoice } from "../core/model/model.ts";
import type { Tool } from "../core/tool/tool.ts";
import type { HookOptions } from "../hooks/hook.ts";
import type { LoopGuardOptions } from "../hooks/loop-guard.ts";
import type { StopWhen } from "../hooks/stop-when.ts";
import type { Compactor } from "../memory/context/compactor.ts";
import type { LongTermMemoryOptions } from "../memory/long-term-memory.ts";

/** Options of an agent. */
export interface AgentOptions {
  /** A model, or its name: `provider/id[:effort]`. */
  readonly model: string | Model;
  /** Tools the model can call, from `defineTool` or `nano-agent/tools`; names must differ. Default: none. */
  readonly tools?: readonly Tool[];
  /** Instructions for the model, sent before the conversation but not part of it. Default: none. */
  readonly systemPrompt?: string;
  /** Maximum model requests per run, from 1; `Infinity` for no limit. Default 20. */
  readonly maxIterations?: number;
  /** How a run ends after `maxIterations` requests. Default `summarize`. */
  readonly onMaxIterations?: OnMaxIterations;
  /**
   * Called when the calls of an answer have their results: true ends the run with `completed`. In a pattern
   * it applies to each phase; never to subagents. Default: none.
   */
  readonly stopWhen?: StopWhen;
  /** Limits: US dollars and tokens per session, milliseconds per run. Default: no limit. */
  readonly budget?: Budget;
  /**
   * When a model that repeats itself is warned and stopped; false: never. Default: at the 3rd and 5th time.
   */
  readonly loopGuard?: LoopGuardOptions | false;
  /** Decides about every tool call. Default: every call is allowed, since the caller chose the tools. */
  readonly permission?: Gate;
  /** Answers the gate's questions. Without it see `onAsk`. */
  readonly approve?: Approver;
  /** Keeps what tool calls change in files, for undo. Default: nothing is kept. */
  readonly checkpointer?: Checkpointer;
  /**
   * What happens to questions without `approve`. `deny`: refused · `pause`: the run ends with
   * `awaiting_approval`, and a later run brings the answer (`approvals`). Default `deny`.
   */
  readonly onAsk?: "deny" | "pause";
  /**
   * What happens to calls without a result when an interrupted run resumes. `close`: the model is told that
   * they were interrupted · `run`: calls that had not started run, and so do those that had if their tool is
   * `idempotent`. Default `close`.
   */
  readonly openCalls?: "close" | "run";
  /** Functions around the steps of a run; see {@link import("./agent.ts").Agent.hooks}. Default: none. */
  readonly hooks?: HookOptions;
  /**
   * How much of a run stays in the conversation: everything (`full`), or question and answer. Default `full`.
   */
  readonly memory?: ConversationMemory;
  /** Memory across conversations. Default: none. */
  readonly longTermMemory?: LongTermMemoryOptions;
  /** False runs the calls of an answer one after the other. Default true. */
  readonly parallelToolCalls?: boolean;
  /** Maximum calls of one answer running in parallel. Default 64. */
  readonly maxParallelToolCalls?: number;
  /** Maximum calls per answer; those beyond get a result that says so. Default 128. */
  readonly maxCallsPerAnswer?: number;
  /**
   * Time limit of a tool call in milliseconds, unless the tool sets its own. 0: no limit. Default 600,000.
   */
  readonly toolTimeoutMs?: number;
  /** Maximum text of a tool result; longer text loses its middle. Default 400,000 characters. */
  readonly maxToolResultChars?: number;
  /** Passed to every tool as `context.context`, also in subagents; never sent or recorded. */
  readonly context?: unknown;
  /**
   * Base of relative paths in tools. Default: empty, for which the built-in tools use the working directory.
   */
  readonly cwd?: string;
  /** Removes secrets from tool output before anybody sees or stores it. Default: none. */
  readonly redact?: Redaction;
  /**
   * Keeps the conversation within the model's window, for example `summaryCompaction()` of
   * `nano-agent/memory`. Default: none; a request that is too long ends the run with the provider's error.
   */
  readonly compaction?: Compactor | false;
  /** Wraps every model that is asked, also those of subagents. Called once per model. */
  readonly wrapModel?: (model: Model) => Model;
  /** Clock for durations, limits and entries of an in-memory journal. Default: the machine's clock. */
  readonly clock?: Clock;
  /** Makes the ids of steering messages and of an in-memory journal. */
  readonly newId?: NewId;
  /** Where everything is recorded. Default: in memory. */
  readonly journal?: Journal;
  /** Conversation to start from; calls without a result and results without a call are repaired. */
  readonly messages?: readonly GivenMessage[];
  /** Id of the conversation in events and results; a `journal` has its own. Default: generated. */
  readonly sessionId?: string;
  /**
   * Whether the model may call tools: `auto`, `required`, `none`, or `{ type: "tool", name }`. A forced call
   * applies to the first answer of a run. Default `auto`.
   */
  readonly toolChoice?: ToolChoice;
  /** Maximum answer in tokens, including reasoning. Default: what model and budget allow. */
  readonly maxOutputTokens?: number;
  /**
   * Sampling temperature, from 0; the maximum (1 or 2) depends on the provider. Default: the provider's. Some
   * reasoning models accept none.
   */
  readonly temperature?: number;
  /** Nucleus sampling: share of probability, above 0 to 1; use instead of `temperature`. */
  readonly topP?: number;
  /** Texts at which the answer ends, not included in it. Default: none. */
  readonly stopSequences?: readonly string[];
  /**
   * How much to reason: `none`, `minimal`, `low`, `medium`, `high`, `xhigh`. Ignored by models that cannot.
   * Default: the provider's.
   */
  readonly effort?: Effort;
  /** Extra fields for the body of one wire, such as `{ openai_chat: { seed: 1 } }`. */
  readonly providerOptions?: { readonly [wire: string]: { readonly [key: string]: Json | undefined } };
}

export type ResolvedOptions = Omit<AgentOptions, "model"> & { readonly model: Model };

/** Options of one run. They override the agent's. */
export interface RunOptions<S extends SchemaInput = SchemaInput> {
  /** Aborting it ends the run, its request and its tools (`stopReason: "aborted"`). */
  readonly signal?: AbortSignal;
  /** Schema of the value wanted as `result.output`. The model delivers it with a tool named `finish`. */
  readonly schema?: S;
  /** For this run; see {@link AgentOptions.toolChoice}. */
  readonly toolChoice?: ToolChoice;
  /** Answers the questions of gate and tools in this run. Default: the agent's. */
  readonly approve?: Approver;
  /** How questions end without `approve`; see {@link AgentOptions.onAsk}. Default: the agent's. */
  readonly onAsk?: "deny" | "pause";
  /** How calls without a result are treated; see {@link AgentOptions.openCalls}. Default: the agent's. */
  readonly openCalls?: "close" | "run";
  /**
   * Answers to calls that wait for approval, by call id; for a run without input. Approved calls run,
   * refusals are told to the model, the rest keep waiting. Throws `invalid_argument` for an id that does not
   * wait.
   */
  readonly approvals?: Approvals;
  /** Maximum model requests of this run, from 1; `Infinity` for no limit. Default: the agent's, 20. */
  readonly maxIterations?: number;
  /** For this run; see {@link AgentOptions.stopWhen}. */
  readonly stopWhen?: StopWhen;
  /** Passed to the tools of this run as `context.context`. Default: the agent's. */
  readonly context?: unknown;
  /** Called with every event. Errors it throws become `warning` events. */
  readonly onEvent?: (event: AgentEvent) => void;
  /** Called with every piece of answer text. */
  readonly onToken?: (text: string) => void;
}

export interface CallToolOptions extends Pick<RunOptions, "signal" | "onEvent" | "approve" | "context"> {}

/** The type of `output` in a run with schema `S`. */
export type OutputOf<S extends SchemaInput> = InferSchema<S>;

export function assertOptions(options: ResolvedOptions): void {
  assertEngine();
  const model: unknown = options?.model;
  if (typeof model === "object" && model !== null && "doStream" in model)
    throw invalidArgument(
      "model is one of the AI SDK: pass fromAiSdk(model), with fromAiSdk of nano-agent/providers.",
    );
  checkOptions(options, AGENT_OPTIONS);
}

export function patternOptions<T extends AgentOptions>(
  own: Properties<Omit<T, keyof AgentOptions>>,
): OptionSchema {
  return objectSchema<AgentOptions>({ ...OPTIONS, model: {}, ...own });
}

export function assertRunOptions(options: RunOptions): void {
  checkOptions(options, RUN_OPTIONS);
}

/** Throws `invalid_argument` for a money budget if the price of a model that may answer is unknown. */
export function assertPriced({ budget, model }: Pick<ResolvedOptions, "budget" | "model">): void {
  if (budget?.usd === undefined && budget?.shared === undefined) return;
  const unknown = [model, ...(model.alternatives ?? [])].find(({ info }) => info?.price === undefined);
  if (unknown === undefined) return;
  throw invalidArgument(
    `A limit in money needs a price, and that of ${unknown.provider}/${unknown.id} is unknown: give it one (in settings: providers.${unknown.provider}.models, 0 for a model that costs nothing), or limit tokens.`,
  );
}

export function assertIterations(maxIterations: number): void {
  checkOptions({ maxIterations }, ITERATIONS);
}

const TEXT = { type: "string" } as const;
const FUNCTION = { "x-function": true } as const;
const OBJECT = { type: "object" } as const;
const SWITCH = { type: "boolean" } as const;
const COUNT = {
  anyOf: [{ type: "integer", minimum: 1 }, { const: Number.POSITIVE_INFINITY }],
  "x-say": "a whole number from 1, or Infinity",
} as const;
const ON_ASK = { enum: ["deny", "pause"] } as const;
const OPEN_CALLS = { enum: ["close", "run"] } as const;
const CLOCK = { "x-has": ["now", "elapsed", "sleep"] } as const;
const MAX_ITERATIONS = { ...COUNT, "x-aka": ["maxSteps", "maxTurns", "recursionLimit"] } as const;
const ITERATIONS = objectSchema<{ maxIterations: number }>({ maxIterations: MAX_ITERATIONS });

function orFalse(schema: JsonSchema, form: string): JsonSchema {
  return { anyOf: [{ const: false }, schema], "x-say": `${form}, or false` };
}

const SHARED = {
  toolChoice: {
    anyOf: [
      { enum: ["auto", "none", "required"] },
      { type: "object", properties: { type: { const: "tool" }, name: TEXT }, required: ["type", "name"] },
    ],
    "x-say": '"auto", "none", "required" or { type: "tool", name }',
  },
  approve: FUNCTION,
  onAsk: ON_ASK,
  openCalls: OPEN_CALLS,
  maxIterations: MAX_ITERATIONS,
  stopWhen: FUNCTION,
  context: {},
} as const;

const OPTIONS: Properties<AgentOptions> = {
  ...SHARED,
  model: { "x-has": ["stream"], "x-say": 'a Model, or a name such as "anthropic/claude-sonnet-4-5"' },
  tools: { type: "array", "x-say": "a list: [defineTool({ … }), …]" },
  systemPrompt: { ...TEXT, "x-aka": ["instructions", "prompt"] },
  onMaxIterations: {
    anyOf: [{ enum: ["summarize", "last", "throw"] }, FUNCTION],
    "x-say": '"summarize", "last", "throw" or a function',
  },
  budget: BUDGET,
  loopGuard: orFalse(OBJECT, "an object"),
  permission: {
    "x-has": ["check"],
    "x-say": "a Gate: an object with check(request)",
    "x-aka": ["needsApproval"],
  },
  checkpointer: {
    "x-has": ["before", "after"],
    "x-say": "SessionCheckpoints of nano-agent/session, or an object with before() and after()",
  },
  wrapModel: FUNCTION,
  clock: CLOCK,
  newId: FUNCTION,
  hooks: OBJECT,
  memory: { enum: ["full", "final-only"] },
  longTermMemory: OBJECT,
  parallelToolCalls: SWITCH,
  maxParallelToolCalls: COUNT,
  maxCallsPerAnswer: COUNT,
  toolTimeoutMs: { type: "number", minimum: 0 },
  maxToolResultChars: COUNT,
  cwd: TEXT,
  redact: { "x-has": ["text", "stream"], "x-say": "what createRedaction() of nano-agent/permission returns" },
  compaction: orFalse(
    { "x-has": ["compact"] },
    "a Compactor, such as summaryCompaction() of nano-agent/memory",
  ),
  journal: {
    "x-has": ["entries", "append"],
    "x-say": "a journal: await new SessionStore(…).start(…) of nano-agent/session, or a MemoryJournal",
    "x-aka": ["checkpointSaver"],
  },
  messages: { type: "array" },
  sessionId: { type: "string", minLength: 1 },
  maxOutputTokens: COUNT,
  temperature: { type: "number", minimum: 0, maximum: Number.MAX_VALUE, "x-say": "a number from 0" },
  topP: { type: "number", exclusiveMinimum: 0, maximum: 1 },
  stopSequences: { type: "array", items: { type: "string", minLength: 1 } },
  effort: { enum: EFFORTS },
  providerOptions: { type: "object", additionalProperties: OBJECT },
};

const AGENT_OPTIONS = objectSchema<AgentOptions>(OPTIONS, ["model"]);

const RUN_OPTIONS = objectSchema<RunOptions>({
  ...SHARED,
  signal: {
    "x-has": ["throwIfAborted", "addEventListener"],
    "x-say": "an AbortSignal: the signal of an AbortController",
  },
  schema: { "x-aka": ["output", "outputType", "responseFormat"] },
  approvals: OBJECT,
  onEvent: FUNCTION,
  onToken: FUNCTION,
});
