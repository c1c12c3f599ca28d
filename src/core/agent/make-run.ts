import type { Tool } from "../tool/tool.ts";
import { Ledger } from "./ledger.ts";
import type { AgentOptions, RunOptions } from "./options.ts";
import { type RunContext, requestDefaults, runSettings } from "./run-context.ts";
import { runTools } from "./run-tools.ts";
import { runSubagent } from "./subagent.ts";

/** What a run has from its agent beside the options. */
export interface RunParts
  extends Pick<
    RunContext,
    "tools" | "choice" | "journal" | "state" | "signal" | "hooks" | "takeSteering" | "emit"
  > {
  /** The tool that must end the run. */
  readonly finish: Tool | undefined;
}

/** Everything a run works with, by the options of its agent and its own. Throws `invalid_argument` for tools that do not fit. */
export function makeRun(own: AgentOptions, options: RunOptions, parts: RunParts): RunContext {
  const { finish, ...given } = parts;
  const settings = runSettings(own, options);
  return {
    ...settings,
    ...given,
    request: requestDefaults(own, parts.journal.sessionId),
    tools: runTools(parts.tools, { finish, choice: settings.toolChoice }),
    finishTool: finish?.name,
    startedAt: performance.now(),
    ledger: new Ledger(own.budget ?? {}),
    delegate: runSubagent,
    scope: undefined,
  };
}
