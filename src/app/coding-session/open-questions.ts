import type { Journal } from "../../core/agent/journal.ts";
import { SessionState } from "../../core/agent/session-state.ts";
import { createIds } from "../../core/base/ids.ts";
import type { ApprovalQuestion } from "../../permission/approval-prompt.ts";
import type { OpenSession } from "../open-session.ts";
import type { Settings } from "../settings.ts";
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

/**
 * Writes a question down before anybody is asked, so that the answer can come from another process too, and
 * resolves to its id. A call inside another one, of a subagent or of a pattern cannot wait that long: the id
 * of its question stands nowhere.
 */
export async function recordQuestion(
  journal: Journal | undefined,
  { config }: Pick<Settings, "config">,
  { callId, parentCallId, tool, input, reason, part, rule }: ApprovalQuestion,
): Promise<string> {
  const isNested = parentCallId !== undefined || config.values.pattern !== undefined;
  if (journal === undefined || isNested) return createIds()("question");
  const entry = await journal.append({
    type: "approval_request",
    callId,
    name: tool,
    input,
    reason,
    ...(part === undefined ? {} : { part }),
    ...(rule === undefined ? {} : { suggestion: rule }),
  });
  return entry.id;
}
