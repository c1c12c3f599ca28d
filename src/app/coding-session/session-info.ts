import type { Effort } from "../../core/model/model.ts";
import type { PermissionMode } from "../../permission/permission-mode.ts";
import type { CommandView, ModelView, SessionInfo } from "./coding-session.ts";
import type { SessionParts } from "./session-parts.ts";

/** What of a session may change while it is open. */
export interface SessionChoices {
  readonly model: ModelView;
  readonly effort: Effort | undefined;
  readonly mode: PermissionMode;
  /** Names of tools that were added. */
  readonly lateTools: readonly string[];
}

function commandView({ name, description, hint }: CommandView): CommandView {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(hint === undefined ? {} : { hint }),
  };
}

/** What a session works with. */
export function sessionInfo(
  { composed, session, settings }: SessionParts,
  { model, effort, mode, lateTools }: SessionChoices,
): SessionInfo {
  const goOn = session.goOn();
  return {
    cwd: settings.cwd,
    model,
    ...(effort === undefined ? {} : { effort }),
    mode,
    tools: [...composed.toolNames, ...lateTools],
    agents: composed.agents,
    skills: composed.skills,
    commands: composed.commands().map(commandView),
    mcpServers: composed.mcp.statuses(),
    ...(composed.mcp.hub === undefined ? {} : { mcp: composed.mcp.hub }),
    sandbox: composed.sandbox,
    ...(session.path === undefined ? {} : { path: session.path }),
    ...(goOn === undefined ? {} : { goOn }),
  };
}
