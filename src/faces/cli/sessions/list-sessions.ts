import { existsSync } from "node:fs";
import { toNanoAgentError } from "../../../core/base/errors.ts";
import { sessionTitle, verifySession } from "../../../session/read-session.ts";
import { isSessionId } from "../../../session/session-file.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { SessionCall } from "../command-call.ts";
import { answer, listTime, say } from "../command-context.ts";

/** Writes one line a session, the newest first: when it was written last, its id, and what it began with. */
export function listSessions(call: SessionCall): number {
  const { context, store, cwd } = call;
  const sessions = store
    .list(call.has("--all") ? undefined : cwd)
    .map((session) => ({ ...session, title: sessionTitle(session.path) }));
  const lines = sessions.map(
    ({ sessionId, changedAt, title = "(no text)" }) =>
      `${listTime(changedAt)}  ${sessionId}  ${terminalLine(title, 70)}\n`,
  );
  answer(context, call, {
    json: () =>
      sessions.map(({ sessionId, path, bytes, changedAt, title }) => ({
        session_id: sessionId,
        file: path,
        bytes,
        changed_at: new Date(changedAt).toISOString(),
        title: title ?? null,
      })),
    text: () => lines.join("") || `No sessions of ${terminalLine(cwd, 500)}. See --all.\n`,
  });
  return EXIT.done;
}

/**
 * Checks session files, named by their paths or ids, and writes one JSON line each; a file that cannot be
 * read is named on standard error. Returns 0 when all are whole, 1 when damage was found, 2 when a file could
 * not be read.
 */
export function verifySessions({ context, words, store, cwd }: SessionCall): number {
  let code: number = EXIT.done;
  for (const word of words) {
    try {
      const isId = isSessionId(word) && !existsSync(word);
      const check = verifySession(isId ? store.find(word, cwd).path : word);
      context.stdout.write(`${JSON.stringify(check)}\n`);
      if (!check.ok && code === EXIT.done) code = EXIT.failed;
    } catch (error) {
      say(context, toNanoAgentError(error).message);
      code = EXIT.usage;
    }
  }
  return code;
}
