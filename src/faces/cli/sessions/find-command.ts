import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { terminalLine } from "../../../app/safe-text.ts";
import { sessionTitle } from "../../../session/read-session.ts";
import { type FoundSession, findSessions } from "../../../session/search/find-sessions.ts";
import type { SessionStore } from "../../../session/session-store.ts";
import type { CommandContext } from "../command-context.ts";

/** Writes the sessions that hold a text, the best first, each with a piece of what was found. */
export async function findCommand(
  { stdout, stderr }: CommandContext,
  text: string,
  {
    store,
    cwd,
    json,
  }: { readonly store: SessionStore; readonly cwd: string | undefined; readonly json: boolean },
): Promise<number> {
  const { sessions, by, notices } = await findSessions(store, text, { cwd });
  for (const notice of notices) stderr.write(`nano-agent: ${terminalLine(notice, 2_000)}\n`);
  if (json) stdout.write(`${JSON.stringify(sessions.map((session) => ({ ...asJson(session), by })))}\n`);
  else if (sessions.length === 0)
    stdout.write(`No session holds ${terminalLine(text, 100)}.${cwd === undefined ? "" : " See --all."}\n`);
  else stdout.write(sessions.map(describe).join(""));
  return EXIT.done;
}

function asJson({ sessionId, path, changedAt, step, excerpt, passages }: FoundSession): object {
  return {
    session_id: sessionId,
    file: path,
    changed_at: new Date(changedAt).toISOString(),
    title: sessionTitle(path) ?? null,
    step,
    excerpt,
    passages,
  };
}

function describe({ sessionId, changedAt, step, excerpt, passages }: FoundSession): string {
  const when = new Date(changedAt).toISOString().slice(0, 16).replace("T", " ");
  const more = passages > 1 ? ` (and ${passages - 1} more)` : "";
  return `${when}  ${sessionId}  step ${step}${more}\n    ${terminalLine(excerpt, 200)}\n`;
}
