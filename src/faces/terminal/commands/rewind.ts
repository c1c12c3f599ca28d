import type { RewindPoint } from "../../../coding/session/coding-session.ts";
import { counted } from "../../../core/base/text.ts";
import { rollbackText } from "../../text/rollback-text.ts";
import { textLines } from "../paint/line.ts";
import { agoText } from "../views/amounts.ts";
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
  const { now } = control.screen.context;
  control.pick<RewindPoint>({
    title: "Back to before",
    items: points.map((point) => ({
      label: point.text.slice(0, 300),
      note: `${agoText(now - point.time)}${point.files.length === 0 ? "" : `, ${counted(point.files.length, "file")} changed since`}`,
      value: point,
      preview: () => [...textLines(point.text).slice(0, 3), ...point.files.slice(0, 3)],
    })),
    onChoose: (point) => chooseWhat(control, point),
  });
}

interface RewindParts {
  readonly conversation: boolean;
  readonly files: boolean;
}

function chooseWhat(control: Control, point: RewindPoint): void {
  const files = point.files.length === 0 ? "no file was changed since" : point.files.slice(0, 4).join(", ");
  control.pick<RewindParts>({
    title: "What goes back",
    items: [
      { label: "Conversation and files", note: files, value: { conversation: true, files: true } },
      { label: "Conversation only", value: { conversation: true, files: false } },
      { label: "Files only", note: files, value: { conversation: false, files: true } },
    ],
    marked: point.files.length === 0 ? 1 : 0,
    onChoose: (what) => control.run(rewind(control, point, what)),
  });
}

async function rewind(control: Control, point: RewindPoint, what: RewindParts): Promise<void> {
  const { session, input } = control.screen;
  if (session === undefined) return;
  const report = await session.rewind(point.entryId, what);
  if (report.files !== undefined) printRollback(control, report.files);
  if (report.status === "refused") control.say("Nothing was changed.", "bad");
  else if (what.conversation && input.isEmpty) input.replace(report.text);
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
