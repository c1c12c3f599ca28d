import type { FileChange, JournalEntry } from "../../core/agent/entries.ts";
import { textOf } from "../../core/message/message.ts";
import { checkpointHistory, stepsFrom, type TurnPlace } from "../../session/undo/checkpoint-history.ts";
import type { RewindPoint } from "./coding-session.ts";

/** The messages of the user in a session, oldest first, and the turn that followed each. */
export function rewindPoints(journal: Iterable<JournalEntry>): readonly (RewindPoint & TurnPlace)[] {
  const history = checkpointHistory(journal);
  return history.messages.map(({ run, turn, entry: { id, time, message } }) => {
    const paths = stepsFrom(history, { run, turn }).flatMap(({ entry }) =>
      entry.changes.filter(isOfFile).map(({ path }) => path),
    );
    return { entryId: id, text: textOf(message.content), time, run, turn, files: [...new Set(paths)] };
  });
}

/** A folder that a file needed is nothing a person would count. */
function isOfFile({ before, after }: FileChange): boolean {
  return [before, after].some((version) => version !== null && version.type !== "folder");
}
