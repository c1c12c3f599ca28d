import type { PermissionMode } from "../../permission/permission-mode.ts";
import { entryBefore } from "../../session/session-steps.ts";
import type { CodingSession } from "./coding-session.ts";
import type { SessionParts } from "./session-parts.ts";

/** What a copy of a session takes from it as it is now. */
export interface ForkChoice {
  readonly id: string;
  /** The message of the user to go back to before. Default: all of it. */
  readonly entryId: string | undefined;
  readonly mode: PermissionMode;
}

/** Opens a copy of a session that is at work. */
export async function forkSession(
  { options, session, reopen }: Pick<SessionParts, "options" | "session" | "reopen">,
  { id, entryId, mode }: ForkChoice,
): Promise<CodingSession> {
  const { resume: _resume, sessionId: _sessionId, ...same } = options;
  const own = { ...same, permissionMode: mode };
  if (session.path !== undefined)
    return reopen({
      ...own,
      resume: { id, fork: true, ...(entryId === undefined ? {} : { at: entryId }) },
    });
  const entries = [...session.journal.entries()];
  const before = entryId === undefined ? entries.at(-1)?.id : entryBefore(entries, entryId);
  const end = entries.findIndex((entry) => entry.id === before);
  return reopen({ ...own, keep: false, entries: entries.slice(0, end + 1) });
}
