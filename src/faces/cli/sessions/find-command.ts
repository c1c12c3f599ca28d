import { sessionTitle } from "../../../session/read-session.ts";
import { type FoundSession, findSessions } from "../../../session/search/find-sessions.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { SessionCall } from "../command-call.ts";
import { answer, listTime, say } from "../command-context.ts";

/** Writes the sessions that hold a text, the best first, each with a piece of what was found. */
export async function findCommand(call: SessionCall, text: string): Promise<number> {
  const { context, store } = call;
  const cwd = call.has("--all") ? undefined : call.cwd;
  const { sessions, by, notices } = await findSessions(store, text, { cwd });
  for (const notice of notices) say(context, notice);
  const none = `No session holds ${terminalLine(text, 100)}.${cwd === undefined ? "" : " See --all."}\n`;
  answer(context, call, {
    json: () => sessions.map((session) => ({ ...asJson(session), by })),
    text: () => sessions.map(describe).join("") || none,
  });
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
  const more = passages > 1 ? ` (and ${passages - 1} more)` : "";
  return `${listTime(changedAt)}  ${sessionId}  step ${step}${more}\n    ${terminalLine(excerpt, 200)}\n`;
}
