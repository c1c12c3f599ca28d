import { assertEngine } from "../core/base/assert-engine.ts";
import {
  anything,
  assertChoice,
  assertCount,
  assertEach,
  assertKnown,
  assertType,
  type Check,
  type Checks,
  hasMethods,
  having,
  isOf,
  oneOf,
  orFalse,
  texts,
  within,
} from "../core/base/check-option.ts";
import { misuse } from "../core/base/errors.ts";
import { assertBudget } from "../core/model/assert-budget.ts";
import { EFFORTS } from "../core/model/model.ts";
import type { AgentOptions, ResolvedOptions, RunOptions } from "./options.ts";

/** Throws `invalid_argument` for an option that nobody knows or that cannot work. */
export function assertOptions(options: ResolvedOptions): void {
  assertEngine();
  assertModel(options?.model);
  assertEach(options, OPTIONS);
}

/** Throws `invalid_argument` for an option that neither the pattern nor every agent has. */
export function assertPatternOptions(options: object, own: readonly string[]): void {
  assertKnown(options, [...own, ...Object.keys(OPTIONS)]);
}

/** Throws `invalid_argument` for options of a run that nobody knows or that cannot work. */
export function assertRunOptions(options: RunOptions): void {
  assertEach(options, RUN_OPTIONS, "run option");
}

/** Throws `invalid_argument` for a budget in money where the price of a model that may answer is unknown. */
export function assertPriced({ budget, model }: Pick<ResolvedOptions, "budget" | "model">): void {
  if (budget?.usd === undefined && budget?.shared === undefined) return;
  const unknown = [model, ...(model.alternatives ?? [])].find(({ info }) => info?.price === undefined);
  if (unknown === undefined) return;
  throw misuse(
    `A limit in money needs a price, and that of ${unknown.provider}/${unknown.id} is unknown: give it one (in settings: providers.${unknown.provider}.models, 0 for a model that costs nothing), or limit tokens.`,
  );
}

/** Throws `invalid_argument` for what is no number of model requests: a whole one from 1, or `Infinity`. */
export function assertIterations(value: unknown): void {
  if (value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && Number(value) >= 1)) return;
  throw misuse(
    `maxIterations is ${String(value)}; it counts model requests and must be a whole number from 1, or Infinity.`,
  );
}

function assertModel(model: unknown): void {
  if (hasMethods(model, ["stream"])) return;
  throw misuse(
    typeof model === "object" && model !== null && "doStream" in model
      ? "model is one of the AI SDK: pass fromAiSdk(model), with fromAiSdk of nano-agent/providers."
      : `model is ${model === undefined ? "missing" : typeof model}: pass a Model, or a name such as "anthropic/claude-sonnet-4-5".`,
  );
}

const assertToolChoice: Check = (choice) => {
  if (typeof choice !== "object" || choice === null)
    return assertChoice("toolChoice", choice, ["auto", "none", "required"]);
  const { type, name = null } = choice as { readonly type?: unknown; readonly name?: unknown };
  assertChoice("toolChoice.type", type ?? null, ["tool"]);
  assertType("toolChoice.name", name, "string");
};

const assertTools: Check = (tools) => {
  if (!Array.isArray(tools)) throw misuse("tools is not a list: pass [defineTool({ … }), …].");
};

const assertProviderOptions: Check = (options, name) => {
  assertType(name, options, "object");
  for (const [wire, fields] of Object.entries(options as object))
    assertType(`${name}.${wire}`, fields, "object");
};

const atLeastOne: Check = (value, name) => {
  if (value !== Number.POSITIVE_INFINITY) assertCount(name, value as number, 1);
};

/** Options of an agent and of a run alike. */
const SHARED = {
  toolChoice: assertToolChoice,
  approve: isOf("function"),
  onAsk: oneOf("deny", "pause"),
  openCalls: oneOf("close", "run"),
  maxIterations: assertIterations,
  stopWhen: isOf("function"),
  context: anything,
} as const;

const OPTIONS: Checks<AgentOptions> = {
  ...SHARED,
  model: anything,
  tools: assertTools,
  systemPrompt: isOf("string"),
  onMaxIterations: (value, name) =>
    typeof value === "function" ? undefined : assertChoice(name, value, ["summarize", "last", "throw"]),
  budget: assertBudget,
  loopGuard: orFalse(isOf("object")),
  permission: having(["check"], "permission is not a Gate: pass an object with check(request)."),
  checkpointer: having(
    ["before", "after"],
    "checkpointer is none: pass SessionCheckpoints of nano-agent/session, or an object with before() and after().",
  ),
  wrapModel: isOf("function"),
  clock: having(["elapsed"], "clock is none: pass an object with now(), elapsed() and sleep()."),
  newId: isOf("function"),
  hooks: isOf("object"),
  memory: oneOf("full", "final-only"),
  longTermMemory: isOf("object"),
  parallelToolCalls: isOf("boolean"),
  maxParallelToolCalls: atLeastOne,
  maxCallsPerAnswer: atLeastOne,
  toolTimeoutMs: within({ least: 0 }),
  maxToolResultChars: atLeastOne,
  cwd: isOf("string"),
  redact: having(["text", "stream"], "redact is none: pass createRedaction() of nano-agent/permission."),
  compaction: orFalse(
    having(
      ["compact"],
      "compaction must be a Compactor, such as summaryCompaction() of nano-agent/memory, or false.",
    ),
  ),
  journal: having(
    ["entries", "append"],
    "journal is none: pass what SessionStore.start() of nano-agent/session resolves to, or a MemoryJournal.",
  ),
  messages: isOf("list"),
  sessionId: (value, name) => {
    assertType(name, value, "string");
    if (value === "") throw misuse("sessionId is empty: leave it out, and one is made up.");
  },
  maxOutputTokens: atLeastOne,
  temperature: within({ least: 0, most: Number.MAX_VALUE }),
  topP: within({ least: 0, isAbove: true, most: 1 }),
  stopSequences: texts,
  effort: oneOf(...EFFORTS),
  providerOptions: assertProviderOptions,
};

const RUN_OPTIONS: Checks<RunOptions> = {
  ...SHARED,
  signal: having(
    ["addEventListener"],
    "signal is not an AbortSignal: of an AbortController pass its signal.",
  ),
  schema: anything,
  approvals: isOf("object"),
  onEvent: isOf("function"),
  onToken: isOf("function"),
};
