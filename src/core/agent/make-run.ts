import type { Tool } from "../tool/tool.ts";
import { assertPriced } from "./check-options.ts";
import { Ledger } from "./ledger.ts";
import type { AgentOptions, RunOptions } from "./options.ts";
import { type RunContext, requestDefaults, runSettings } from "./run-context.ts";
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
export function makeRun(own: AgentOptions, options: RunOptions, parts: RunParts): RunContext {
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
