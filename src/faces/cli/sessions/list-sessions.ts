import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { terminalLine } from "../../../app/safe-text.ts";
import { sessionTitle } from "../../../session/read-session.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import type { Output } from "../output.ts";

/** Writes one line a session, the newest first: when it was written last, its id, and what it began with. */
export function listSessions(
  stdout: Output,
  sessions: readonly SessionFile[],
  { json, cwd }: { readonly json: boolean; readonly cwd: string },
): number {
  if (json) {
    const rows = sessions.map(({ sessionId, path, bytes, changedAt }) => ({
      session_id: sessionId,
      file: path,
      bytes,
      changed_at: new Date(changedAt).toISOString(),
      title: sessionTitle(path) ?? null,
    }));
    stdout.write(`${JSON.stringify(rows)}\n`);
  } else if (sessions.length === 0) stdout.write(`No sessions of ${terminalLine(cwd, 500)}. See --all.\n`);
  else stdout.write(sessions.map(describe).join(""));
  return EXIT.done;
}

function describe({ sessionId, path, changedAt }: SessionFile): string {
  const when = new Date(changedAt).toISOString().slice(0, 16).replace("T", " ");
  return `${when}  ${sessionId}  ${terminalLine(sessionTitle(path) ?? "(no text)", 70)}\n`;
}
