import type { JournalEntry } from "../core/agent/entry.ts";
import { NanoAgentError } from "../core/base/errors.ts";

/** What may stand between the beginning of a run and a message that is a part of its input. */
const BEFORE_INPUT: ReadonlySet<string> = new Set(["user_message", "permission_decision", "tool_result"]);

/**
 * Id of the record in front of a message of the user: who goes on from there can say something else in its place. The input of a run takes
 * the beginning of the run along. `null`: the message is the first of all. Throws `invalid_argument` for what is no such message.
 */
export function entryBefore(entries: readonly JournalEntry[], id: string): string | null {
  const at = entries.findIndex((entry) => entry.id === id);
  const message = entries[at];
  if (message?.type !== "user_message" || message.scope !== undefined)
    throw new NanoAgentError(
      "invalid_argument",
      `${JSON.stringify(id)} is not a message of the user in this conversation. rewindPoints() lists them.`,
    );
  if (message.source !== "input") return message.parent;
  let first = at;
  for (let entry = entries[first - 1]; entry !== undefined; entry = entries[--first - 1]) {
    if (entry.type === "run_start" && entry.scope === undefined) return entry.parent;
    if (!BEFORE_INPUT.has(entry.type)) break;
  }
  return message.parent;
}
