import type { RewindPoint } from "../../../coding/session/coding-session.ts";
import { counted } from "../../../core/base/text.ts";
import { rollbackText } from "../../text/rollback-text.ts";
import { textLines } from "../paint/line.ts";
import { ageText } from "../views/amounts.ts";
import type { Control } from "./control.ts";

/** Lets a person choose a message to go back to, and what goes back: conversation, files, or both. */
export function openRewind(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  control.screen.clearHint();
  const points = session.rewindPoints().toReversed();
  if (points.length === 0) {
    control.say("There is nothing to go back to.", "muted");
    return;
  }
  const { now, marks } = control.screen.context;
  control.pick<RewindPoint>({
    title: "Rewind to before",
    isSearched: false,
    items: points.map((point) => ({
      label: point.text.slice(0, 300),
      note: point.files.length === 0 ? "" : `${counted(point.files.length, "file")} since`,
      end: ageText(now - point.time),
      value: point,
    })),
    answers: ({ files }) => (files.length === 0 ? WAYS.slice(1, 2) : WAYS).map(({ label }) => label),
    keys: [`${marks.up}${marks.down} pick a message, 1-3 what to rewind`],
    onChoose: (point, answer) => {
      const way = WAYS[point.files.length === 0 ? 1 : answer];
      if (way !== undefined) control.run(rewind(control, point, way));
    },
  });
}

interface RewindParts {
  readonly conversation: boolean;
  readonly files: boolean;
}

const WAYS = [
  { label: "Files and conversation", conversation: true, files: true },
  { label: "Conversation only", conversation: true, files: false },
  { label: "Files only", conversation: false, files: true },
] as const;

async function rewind(control: Control, point: RewindPoint, what: RewindParts): Promise<void> {
  const { session, input } = control.screen;
  if (session === undefined) return;
  const { conversation, files } = what;
  const report = await session.rewind(point.entryId, { conversation, files });
  if (report.files !== undefined) printRollback(control, report.files);
  if (report.status === "refused") control.say("Nothing was changed.", "bad");
  else if (conversation && input.isEmpty) input.replace(report.text);
  control.screen.draw();
}

/** Puts files back to before the last run that changed any; `force`: also what others changed since. */
export async function undo(control: Control, args: string): Promise<void> {
  const report = await control.screen.session?.undo(args === "force" ? { force: true } : {});
  if (report !== undefined) printRollback(control, report);
}

/** Takes the newest undo back. */
export async function redo(control: Control, args: string): Promise<void> {
  const report = await control.screen.session?.redo(args === "force" ? { force: true } : {});
  if (report !== undefined) printRollback(control, report);
}

function printRollback(control: Control, report: Parameters<typeof rollbackText>[0]): void {
  control.print(textLines(rollbackText(report, { isDry: false, on: "screen" }).trimEnd()));
}
