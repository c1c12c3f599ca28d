import { NanoAgentError } from "../base/errors.ts";
import type { ToolChoice } from "../model/model.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import { assertLimits } from "./limits.ts";
import { assertLoopGuard } from "./loop-guard-settings.ts";
import type { AgentOptions } from "./options.ts";

/** Throws `invalid_argument` for options that cannot work: no model, a name nobody knows, a limit that is none. */
export function assertOptions(options: AgentOptions): void {
  if (typeof options?.model?.stream !== "function") {
    throw new NanoAgentError(
      "invalid_argument",
      'model is missing: pass a Model, or a name such as "anthropic/claude-sonnet-4-5".',
    );
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(OPTION_NAMES, name)) continue;
    throw new NanoAgentError(
      "invalid_argument",
      `Unknown option "${name}". Known: ${Object.keys(OPTION_NAMES).join(", ")}.`,
    );
  }
  assertLimits(options);
  assertToolChoice(options.toolChoice);
  assertLoopGuard(options.loopGuard);
  const { compaction } = options;
  if (compaction === undefined || compaction === false || typeof compaction.compact === "function") return;
  throw new NanoAgentError(
    "invalid_argument",
    "compaction must be a Compactor, such as summaryCompaction() of nano-agent/memory, or false.",
  );
}

/** Throws `invalid_argument` for a money budget that could not be kept: the price of a model that may answer is unknown. */
export function assertPriced({ budget, model }: Pick<AgentOptions, "budget" | "model">): void {
  if (budget?.usd === undefined) return;
  const unknown = [model, ...(model.alternatives ?? [])].find(({ info }) => info?.price === undefined);
  if (unknown === undefined) return;
  throw new NanoAgentError(
    "invalid_argument",
    `budget.usd needs a price, and that of ${unknown.provider}/${unknown.id} is unknown: give the model a price, or limit tokens.`,
  );
}

/** Throws `invalid_argument` for a choice that is none, or of a tool that is not in `tools`. */
export function assertToolChoice(choice: ToolChoice | undefined, tools?: ToolRegistry): void {
  if (choice === undefined || choice === "auto" || choice === "none" || choice === "required") return;
  const name: unknown = typeof choice === "object" && choice?.type === "tool" ? choice.name : undefined;
  if (typeof name !== "string")
    throw new NanoAgentError(
      "invalid_argument",
      `toolChoice is ${JSON.stringify(choice)}; it must be "auto", "none", "required" or { type: "tool", name }.`,
    );
  if (tools === undefined || tools.get(name) !== undefined) return;
  throw new NanoAgentError(
    "invalid_argument",
    `toolChoice names the tool "${name}", which the agent does not have. It has: ${tools.names().join(", ") || "none"}.`,
  );
}

/** Throws `invalid_argument` when a tool has the name of the one that is to end the run. */
export function assertNameFree(name: string, tools: ToolRegistry): void {
  if (tools.get(name) === undefined) return;
  throw new NanoAgentError(
    "invalid_argument",
    `A run that ends by tool needs the name "${name}", which one of the tools has: rename it.`,
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
  hooks: true,
  memory: true,
  longTermMemory: true,
  parallelToolCalls: true,
  maxParallelToolCalls: true,
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
