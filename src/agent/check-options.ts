import { assertChoice, assertCount, assertKnown, assertType } from "../core/base/check-option.ts";
import { NanoAgentError } from "../core/base/errors.ts";
import type { AgentOptions, ResolvedOptions, RunOptions } from "./options.ts";

/** Throws `invalid_argument` for options that cannot work: no model, a name nobody knows, a limit that is none. */
export function assertOptions(options: ResolvedOptions): void {
  assertEngine();
  if (typeof options?.model?.stream !== "function")
    throw new NanoAgentError("invalid_argument", modelFault(options?.model));
  assertKnown(options, OPTION_LIST);
  assertLimits(options);
  assertValues(options);
  assertHost(options);
  const { compaction } = options;
  if (compaction === undefined || compaction === false || typeof compaction.compact === "function") return;
  throw new NanoAgentError(
    "invalid_argument",
    "compaction must be a Compactor, such as summaryCompaction() of nano-agent/memory, or false.",
  );
}

/** Throws `invalid_argument` for an option of a pattern that nobody knows, be it of the pattern or of every agent. */
export function assertPatternOptions(options: object, own: readonly string[]): void {
  assertKnown(options, [...own, ...OPTION_LIST]);
}

/** Throws `invalid_argument` for options of a run that nobody knows or that cannot work. */
export function assertRunOptions(options: RunOptions): void {
  assertKnown(options, RUN_OPTION_LIST, "run option");
  assertLimits(options);
  const { signal } = options;
  if (signal !== undefined && typeof signal?.addEventListener !== "function")
    throw new NanoAgentError(
      "invalid_argument",
      "signal is not an AbortSignal: of an AbortController pass its signal.",
    );
  assertToolChoice(options.toolChoice);
  assertChoice("onAsk", options.onAsk, ON_ASK);
  assertChoice("openCalls", options.openCalls, OPEN_CALLS);
  assertType("approve", options.approve, "function");
  assertType("onEvent", options.onEvent, "function");
  assertType("onToken", options.onToken, "function");
}

/** Throws `invalid_argument` for a money budget that could not be kept: the price of a model that may answer is unknown. */
export function assertPriced({ budget, model }: Pick<ResolvedOptions, "budget" | "model">): void {
  if (budget?.usd === undefined) return;
  const unknown = [model, ...(model.alternatives ?? [])].find(({ info }) => info?.price === undefined);
  if (unknown === undefined) return;
  throw new NanoAgentError(
    "invalid_argument",
    `budget.usd needs a price, and that of ${unknown.provider}/${unknown.id} is unknown: give the model a price, or limit tokens.`,
  );
}

/** Throws `invalid_argument` for a limit that is no positive number (`maxIterations`: a whole one, or `Infinity`). */
export function assertLimits(limits: {
  readonly maxIterations?: number | undefined;
  readonly budget?:
    | { readonly usd?: number; readonly tokens?: number; readonly wallTimeMs?: number }
    | undefined;
}): void {
  const { maxIterations, budget = {} } = limits;
  if (maxIterations !== undefined && maxIterations !== Number.POSITIVE_INFINITY) {
    if (!Number.isInteger(maxIterations) || maxIterations < 1) {
      throw new NanoAgentError(
        "invalid_argument",
        `maxIterations is ${String(maxIterations)}; it counts model requests and must be a whole number from 1, or Infinity.`,
      );
    }
  }
  assertKnown(budget, ["usd", "tokens", "wallTimeMs"], "limit of a budget");
  for (const [name, value] of Object.entries(budget)) {
    if (value === undefined) continue;
    if (typeof value !== "number" || Number.isNaN(value) || value <= 0) {
      throw new NanoAgentError(
        "invalid_argument",
        `budget.${name} is ${String(value)}; it must be a number above 0.`,
      );
    }
  }
}

const ON_ASK: readonly NonNullable<AgentOptions["onAsk"]>[] = ["deny", "pause"];

const OPEN_CALLS: readonly NonNullable<AgentOptions["openCalls"]>[] = ["close", "run"];

/** What is wrong with a model that is none. */
function modelFault(model: unknown): string {
  if (typeof model === "object" && model !== null && "doStream" in model)
    return "model is one of the AI SDK: pass fromAiSdk(model), with fromAiSdk of nano-agent/providers.";
  return 'model is missing: pass a Model, or a name such as "anthropic/claude-sonnet-4-5".';
}

function assertToolChoice(choice: AgentOptions["toolChoice"]): void {
  if (typeof choice !== "object" || choice === null)
    return assertChoice("toolChoice", choice, ["auto", "none", "required"]);
  assertChoice("toolChoice.type", choice.type, ["tool"]);
  assertType("toolChoice.name", choice.name ?? null, "string");
}

function assertValues(options: AgentOptions): void {
  const { onMaxIterations, permission, journal, tools } = options;
  if (tools !== undefined && !Array.isArray(tools))
    throw new NanoAgentError("invalid_argument", "tools is not a list: pass [defineTool({ … }), …].");
  if (
    journal !== undefined &&
    (typeof journal?.entries !== "function" || typeof journal.append !== "function")
  )
    throw new NanoAgentError(
      "invalid_argument",
      "journal is none: pass what SessionStore.start() of nano-agent/session resolves to, or a MemoryJournal.",
    );
  assertToolChoice(options.toolChoice);
  if (typeof onMaxIterations !== "function")
    assertChoice("onMaxIterations", onMaxIterations, ["summarize", "last", "throw"]);
  assertChoice("memory", options.memory, ["full", "final-only"]);
  assertChoice("onAsk", options.onAsk, ON_ASK);
  assertChoice("effort", options.effort, ["none", "minimal", "low", "medium", "high", "xhigh"]);
  assertType("systemPrompt", options.systemPrompt, "string");
  assertType("approve", options.approve, "function");
  if (permission !== undefined && typeof permission?.check !== "function")
    throw new NanoAgentError(
      "invalid_argument",
      "permission is not a Gate: pass an object with check(request).",
    );
  for (const [name, least] of [
    ["maxParallelToolCalls", 1],
    ["maxCallsPerAnswer", 1],
    ["maxToolResultChars", 1],
    ["maxOutputTokens", 1],
  ] as const) {
    const value = options[name];
    if (value !== undefined && value !== Number.POSITIVE_INFINITY) assertCount(name, value, least);
  }
  for (const name of ["toolTimeoutMs", "temperature", "topP"] as const)
    assertType(name, options[name], "number");
}

/** What a host of many runs brings. */
function assertHost({ openCalls, wrapModel, newId, clock }: AgentOptions): void {
  assertChoice("openCalls", openCalls, OPEN_CALLS);
  assertType("wrapModel", wrapModel, "function");
  assertType("newId", newId, "function");
  if (clock === undefined || typeof clock?.elapsed === "function") return;
  throw new NanoAgentError(
    "invalid_argument",
    "clock is none: pass an object with now(), elapsed() and sleep().",
  );
}

const OPTION_NAMES: { readonly [K in keyof Required<AgentOptions>]: true } = {
  model: true,
  tools: true,
  systemPrompt: true,
  maxIterations: true,
  onMaxIterations: true,
  budget: true,
  loopGuard: true,
  permission: true,
  checkpointer: true,
  approve: true,
  onAsk: true,
  openCalls: true,
  wrapModel: true,
  clock: true,
  newId: true,
  hooks: true,
  memory: true,
  longTermMemory: true,
  parallelToolCalls: true,
  maxParallelToolCalls: true,
  maxCallsPerAnswer: true,
  toolTimeoutMs: true,
  maxToolResultChars: true,
  cwd: true,
  redact: true,
  compaction: true,
  journal: true,
  messages: true,
  sessionId: true,
  toolChoice: true,
  maxOutputTokens: true,
  temperature: true,
  topP: true,
  stopSequences: true,
  effort: true,
  providerOptions: true,
};

const OPTION_LIST: readonly string[] = Object.keys(OPTION_NAMES);

const RUN_OPTION_NAMES: { readonly [K in keyof Required<RunOptions>]: true } = {
  signal: true,
  schema: true,
  toolChoice: true,
  approve: true,
  onAsk: true,
  openCalls: true,
  approvals: true,
  maxIterations: true,
  onEvent: true,
  onToken: true,
};

const RUN_OPTION_LIST: readonly string[] = Object.keys(RUN_OPTION_NAMES);

/** Older engines load every entry and would fail somewhere in the middle of a run. */
function assertEngine(): void {
  if (typeof Promise.withResolvers === "function" && typeof Map.groupBy === "function") return;
  throw new NanoAgentError(
    "invalid_argument",
    "This engine is too old for nano-agent: it lacks parts of ES2024 (Promise.withResolvers, Map.groupBy). Use Node 22.19 or newer, or a browser, Deno or Bun of 2024 or later.",
  );
}
