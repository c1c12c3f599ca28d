import { defined } from "../base/defined.ts";
import type { Message, UserMessage } from "../message/message.ts";
import type { ToolChoice } from "../model/model.ts";
import type { ToolRegistry } from "../tool/registry.ts";
import { resultOf } from "./end-run.ts";
import { runTurns } from "./loop.ts";
import { foldsOf } from "./plugins.ts";
import type { Ending, RunResult } from "./result.ts";
import { type OnMaxIterations, type RunContext, record } from "./run-context.ts";
import { SessionState } from "./session-state.ts";

/** The differences of a nested run. All else, journal, limits and abort too, is that of the run around it. */
export interface NestedRun {
  /** Tags its entries in the journal, below the scope of the run around it. */
  readonly scope: string;
  /** The conversation it starts from, which can be sent as it is. Default: none. Not recorded again. */
  readonly history?: readonly Message[];
  /** Its question, added to the history. Default: the history ends with the question. */
  readonly message?: UserMessage;
  readonly tools: ToolRegistry;
  /** Name of the tool that must end it, one of `tools`. */
  readonly finishTool?: string | undefined;
  /** For its first request. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Default: that of the run around it. */
  readonly maxIterations?: number;
  /** Default: that of the run around it. */
  readonly onMaxIterations?: OnMaxIterations;
}

/**
 * Runs the loop on a transcript of its own inside another run. What it spends counts for the budget of the
 * session; its entries stand in the same journal, tagged, and are no part of the conversation. A tool that
 * waits for the caller is answered with an error, for nothing could bring the answer in. Throws only for the
 * journal; `onMaxIterations: "throw"` is for the run around it to keep.
 */
export async function runNested(run: RunContext, nested: NestedRun): Promise<RunResult> {
  const scope = run.scope === undefined ? nested.scope : `${run.scope}/${nested.scope}`;
  const inner: RunContext = {
    ...run,
    scope,
    state: new SessionState(foldsOf(run.plugins), { scope, parent: run.state }),
    tools: nested.tools,
    finishTool: nested.finishTool,
    toolChoice: nested.toolChoice,
    maxIterations: nested.maxIterations ?? run.maxIterations,
    onMaxIterations: nested.onMaxIterations ?? run.onMaxIterations,
  };
  inner.state.transcript.addHistory(nested.history ?? []);
  if (nested.message !== undefined)
    await record(inner, { type: "user_message", message: nested.message, source: "system" });
  return resultOf(inner, await runTurns(inner));
}

/** Ends as `result` did, with another text where one is given. */
export function endingOf(result: RunResult, text: string = result.text): Ending {
  const { stopReason, output, limit, circle, error, detail } = result;
  return { stopReason, text, ...defined({ output, limit, circle, error, detail }) };
}
