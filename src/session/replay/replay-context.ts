import { newRun, type Run, type RunParts, type RunSettings } from "../../core/agent/run.ts";
import { misuse } from "../../core/base/errors.ts";
import type { Model } from "../../core/model/model.ts";
import { type Tool, ToolRegistry } from "../../core/tool/tool.ts";

/** The parts that one replay has of its own. */
export interface ReplayParts
  extends Pick<RunParts, "journal" | "state" | "signal">,
    Partial<Pick<RunParts, "finishTool" | "takeSteering" | "emit" | "plugins" | "request">> {
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly settings: Partial<RunSettings>;
}

/**
 * A run that is run again. What hooks and subagents did to the recorded one stands in its record, so here are
 * none, and no time limit and no limit on results.
 */
export function replayContext({ model, tools, settings, ...given }: ReplayParts): Run {
  return newRun(
    { toolTimeoutMs: 0, ...settings },
    {
      request: { sessionId: given.journal.sessionId },
      finishTool: undefined,
      plugins: [],
      takeSteering: () => [],
      emit: () => undefined,
      ...given,
      model: () => ({ model }),
      tools: new ToolRegistry(tools),
      failure: {},
      workedMs: 0,
      isReleased: () => false,
      startSubagent: noSubagents,
    },
  );
}

const noSubagents: RunParts["startSubagent"] = () =>
  Promise.reject(misuse("A replay starts no subagents; their recorded results are used."));
