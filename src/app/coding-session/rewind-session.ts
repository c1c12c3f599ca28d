import { NanoAgentError } from "../../core/base/errors.ts";
import type { RewindOptions, RewindReport, UndoReport } from "./coding-session.ts";
import { rewindPoints } from "./rewind-points.ts";
import { type UndoParts, undoFiles } from "./undo-files.ts";

/** Goes back to before a message: files first, for only they can stand in the way. */
export async function rewindSession(
  parts: UndoParts,
  entryId: string,
  { conversation = true, files = false, force = false }: RewindOptions,
): Promise<RewindReport> {
  const { session } = parts;
  const point = rewindPoints(session.journal.entries()).find((each) => each.entryId === entryId);
  if (point === undefined)
    throw new NanoAgentError(
      "invalid_argument",
      `${JSON.stringify(entryId)} is not a message of the user in this conversation. rewindPoints() lists them.`,
    );
  const { run, turn, text } = point;
  let report: UndoReport | undefined;
  if (files) {
    report = await undoFiles(parts, { to: { run, turn: turn === 1 ? 0 : turn }, force });
    if (report.status === "refused") return { status: "refused", text, files: report };
  }
  if (conversation) await session.rewindTo(entryId);
  return { status: "done", text, ...(report === undefined ? {} : { files: report }) };
}
