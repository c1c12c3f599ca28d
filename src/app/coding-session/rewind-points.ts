import type { JournalEntry } from "../../core/agent/entry.ts";
import { textOf } from "../../core/message/message.ts";
import { checkpointHistory } from "../../session/checkpoints/checkpoint-history.ts";
import type { RewindPoint } from "./coding-session.ts";

/** A message that can be gone back to before, and the turn that followed it. */
export interface RewindPlace extends RewindPoint {
  /** Number of the model's next answer in its run, from 1. */
  readonly turn: number;
}

/** The messages of the user in a session, oldest first. */
export function rewindPoints(journal: Iterable<JournalEntry>): readonly RewindPlace[] {
  const entries = [...journal];
  const { steps } = checkpointHistory(entries);
  const points: Omit<RewindPlace, "files">[] = [];
  let run = 0;
  let turn = 0;
  for (const entry of entries) {
    if (entry.scope !== undefined) continue;
    if (entry.type === "run_start") {
      run++;
      turn = 0;
    } else if (entry.type === "assistant_message") turn++;
    else if (entry.type === "user_message" && (entry.source === "input" || entry.source === "steering")) {
      const { id, time, message } = entry;
      points.push({ entryId: id, text: textOf(message.content), time, run, turn: turn + 1 });
    }
  }
  return points.map((point) => ({
    ...point,
    files: [
      ...new Set(
        steps
          .filter((step) => step.run > point.run || (step.run === point.run && step.turn >= point.turn))
          .flatMap((step) => step.entry.changes.map(({ path }) => path)),
      ),
    ],
  }));
}
