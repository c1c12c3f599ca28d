import { type RunContext, type RunSettings, runSettings } from "../../core/agent/run-context.ts";
import { misuse } from "../../core/base/errors.ts";
import { Ledger } from "../../core/model/ledger.ts";
import type { Model } from "../../core/model/model.ts";
import { ToolRegistry } from "../../core/tool/registry.ts";
import type { Tool } from "../../core/tool/tool.ts";

/** The parts that one replay has of its own. */
export interface ReplayParts extends Pick<RunContext, "journal" | "state" | "signal"> {
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly settings: Partial<RunSettings>;
}

/**
 * A run that is run again. What hooks and subagents did to the recorded one stands in its record, so here are
 * none, and no time limit and no limit on results.
 */
export function replayContext({ model, tools, settings, ...given }: ReplayParts): RunContext {
  const { sessionId } = given.journal;
  return {
    ...runSettings({ toolTimeoutMs: 0, ...settings }),
    ...given,
    model,
    choice: () => ({ model }),
    request: { sessionId },
    tools: new ToolRegistry(tools),
    finishTool: undefined,
    plugins: [],
    failure: {},
    startedAt: 0,
    ledger: new Ledger({}),
    scope: undefined,
    isReleased: () => false,
    takeSteering: () => [],
    delegate: noSubagents,
    emit: () => undefined,
  };
}

const noSubagents: RunContext["delegate"] = () =>
  Promise.reject(misuse("A replay starts no subagents; their recorded results are used."));
