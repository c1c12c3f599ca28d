import type { NewEntry } from "../core/agent/entry.ts";
import { type ModelChoice, type RunContext, runSettings } from "../core/agent/run-context.ts";
import { defined } from "../core/base/defined.ts";
import { misuse, type NanoAgentError } from "../core/base/errors.ts";
import { didYouMean } from "../core/base/text.ts";
import { Ledger } from "../core/model/ledger.ts";
import type { Effort, Model, RequestDefaults, ToolChoice } from "../core/model/model.ts";
import type { ToolRegistry } from "../core/tool/registry.ts";
import type { Tool } from "../core/tool/tool.ts";
import { assertOptions, assertPriced } from "./check-options.ts";
import type { AgentOptions, ResolvedOptions, RunOptions } from "./options.ts";
import { runSubagent } from "./run-subagent.ts";

/** The parts of a run that come from its agent, beside the options. */
export interface RunPorts
  extends Pick<
    RunContext,
    "choice" | "journal" | "state" | "signal" | "plugins" | "failure" | "takeSteering" | "emit" | "isReleased"
  > {
  readonly tools: ToolRegistry;
  readonly finish: Tool | undefined;
  /** Milliseconds the run has taken before it goes on. */
  readonly workedMs: number;
}

/** Everything a run works with. Throws `invalid_argument` for tools that do not fit. */
export function makeRun(own: ResolvedOptions, options: RunOptions, ports: RunPorts): RunContext {
  assertPriced(own);
  const { finish, workedMs, ...given } = ports;
  const settings = runSettings({ ...own, ...defined(options) });
  return {
    ...settings,
    ...given,
    model: own.model,
    request: requestDefaults(own, ports.journal.sessionId),
    tools: runTools(ports.tools, { finish, choice: settings.toolChoice }),
    finishTool: finish?.name,
    startedAt: settings.clock.elapsed() - workedMs,
    ledger: new Ledger(settings.budget),
    delegate: runSubagent,
    scope: undefined,
  };
}

/** The request fields an agent's options stand for. */
function requestDefaults(options: AgentOptions, sessionId: string): RequestDefaults {
  const { systemPrompt: system, maxOutputTokens, temperature, topP, stopSequences, effort } = options;
  const { providerOptions } = options;
  const parallelToolCalls = options.parallelToolCalls === false ? false : undefined;
  return {
    sessionId,
    ...defined({ system, maxOutputTokens, temperature, topP, stopSequences, effort }),
    ...defined({ providerOptions, parallelToolCalls }),
  };
}

/** The model that options choose, as it is asked. */
export function chosenBy({ model, effort, wrapModel }: ResolvedOptions): ModelChoice {
  const asked = wrapModel === undefined ? model : wrapModel(model);
  return { model: asked, ...defined({ effort }) };
}

/** The options with another model and effort. Throws `invalid_argument` for what cannot work. */
export function rechosen(
  options: ResolvedOptions,
  model: Model,
  effort: Effort | undefined,
): ResolvedOptions {
  const { effort: _before, ...others } = options;
  const changed: ResolvedOptions = { ...others, model, ...defined({ effort }) };
  assertOptions(changed);
  assertPriced(changed);
  return changed;
}

/** The entry that records it. */
export function modelChange({ model, effort }: ResolvedOptions): NewEntry {
  const name = `${model.provider}/${model.id}`;
  return { type: "model_change", model: name, ...defined({ effort }) };
}

/**
 * The tools of a run: those of the agent, with the one that is to end it. Throws `invalid_argument` when a
 * tool has the name of that one, and when a forced tool is not there, which no provider takes.
 */
function runTools(
  tools: ToolRegistry,
  { finish, choice }: { readonly finish: Tool | undefined; readonly choice: ToolChoice | undefined },
): ToolRegistry {
  const all = finish === undefined ? tools : withFinish(tools, finish);
  if (typeof choice === "object" && all.get(choice.name) === undefined)
    throw noSuchTool(choice.name, all.names());
  return all;
}

function withFinish(tools: ToolRegistry, finish: Tool): ToolRegistry {
  if (tools.get(finish.name) === undefined) return tools.with(finish);
  throw misuse(
    `A run that ends by tool needs the name "${finish.name}", which one of the tools has: rename it.`,
  );
}

function noSuchTool(name: string, known: readonly string[]): NanoAgentError {
  return misuse(
    `toolChoice names the tool "${name}", which the agent does not have.${didYouMean(name, known)} Tools: ${known.join(", ") || "none"}.`,
  );
}
