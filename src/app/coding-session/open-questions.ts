import { SessionState } from "../../core/agent/session-state.ts";
import type { OpenSession } from "../open-session.ts";
import type { Question } from "./question.ts";

/** The questions that a session was left with: calls that wait for approval since an earlier process. */
export function openQuestions({ journal, newestOf }: OpenSession): readonly Question[] {
  if (newestOf("approval_request") === undefined) return [];
  const state = new SessionState();
  for (const entry of journal.entries()) state.apply(entry);
  const waiting = new Set(state.transcript.pending.map(({ id }) => id));
  return [...state.approvals.values()]
    .filter(({ callId }) => waiting.has(callId))
    .map(({ id, time, callId, name, input, reason, part }) => ({
      id,
      type: "permission",
      time,
      callId,
      tool: name,
      input,
      reason,
      ...(part === undefined ? {} : { parts: [{ text: part, reason }] }),
      choices: [{ choice: "once" }, { choice: "no" }, { choice: "stop" }],
    }));
}
