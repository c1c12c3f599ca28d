import type { Journal } from "../../core/agent/journal.ts";
import { createIds } from "../../core/base/ids.ts";
import type { ApprovalQuestion } from "../../permission/approval-prompt.ts";
import type { Settings } from "../settings.ts";

/**
 * Writes a question down before anybody is asked, so that the answer can come from another process too, and resolves to its id. A call inside
 * another one, of a subagent or of a pattern cannot wait that long: the id of its question stands nowhere.
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
