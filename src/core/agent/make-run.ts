import type { Effort, Model } from "../model/model.ts";
import type { Tool } from "../tool/tool.ts";
import { assertOptions, assertPriced } from "./check-options.ts";
import type { NewEntry } from "./entry.ts";
import { Ledger } from "./ledger.ts";
import type { ResolvedOptions, RunOptions } from "./options.ts";
import { type ModelChoice, type RunContext, requestDefaults, runSettings } from "./run-context.ts";
import { runTools } from "./run-tools.ts";
import { runSubagent } from "./subagent.ts";

/** What a run has from its agent beside the options. */
export interface RunParts
  extends Pick<
    RunContext,
    "tools" | "choice" | "journal" | "state" | "signal" | "hooks" | "takeSteering" | "emit" | "isReleased"
  > {
  /** The tool that must end the run. */
  readonly finish: Tool | undefined;
  /** Milliseconds the run has taken before it goes on. */
  readonly workedMs: number;
}

/** Everything a run works with, by the options of its agent and its own. Throws `invalid_argument` for tools that do not fit. */
export function makeRun(own: ResolvedOptions, options: RunOptions, parts: RunParts): RunContext {
  assertPriced(own);
  const { finish, workedMs, ...given } = parts;
  const settings = runSettings(own, options);
  return {
    ...settings,
    ...given,
    request: requestDefaults(own, parts.journal.sessionId),
    tools: runTools(parts.tools, { finish, choice: settings.toolChoice }),
    finishTool: finish?.name,
    startedAt: settings.clock.elapsed() - workedMs,
    ledger: new Ledger(own.budget ?? {}),
    delegate: runSubagent,
    scope: undefined,
  };
}

/** The model that options choose, as it is asked. */
export function chosenBy({ model, effort, wrapModel }: ResolvedOptions): ModelChoice {
  const asked = wrapModel === undefined ? model : wrapModel(model);
  return { model: asked, ...(effort === undefined ? {} : { effort }) };
}

/** The options with another model and effort. Throws `invalid_argument` for what cannot work. */
export function rechosen(
  options: ResolvedOptions,
  model: Model,
  effort: Effort | undefined,
): ResolvedOptions {
  const { effort: _before, ...others } = options;
  const changed: ResolvedOptions = { ...others, model, ...(effort === undefined ? {} : { effort }) };
  assertOptions(changed);
  assertPriced(changed);
  return changed;
}

/** The entry that records it. */
export function modelChange({ model, effort }: ResolvedOptions): NewEntry {
  const name = `${model.provider}/${model.id}`;
  return { type: "model_change", model: name, ...(effort === undefined ? {} : { effort }) };
}
