import type { RewindPoint } from "../../../app/coding-session/coding-session.ts";
import { counted } from "../../../core/base/text.ts";
import { rollbackText } from "../../terminal/rollback-text.ts";
import { textLines } from "../paint/line.ts";
import { Picker } from "../panels/picker.ts";
import { agoText } from "../views/amounts.ts";
import type { Control } from "./control.ts";

/** Lets a person choose a message to go back to before, and then what goes back: the conversation, the files, or both. */
export function openRewind(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  if (session.view.run !== undefined) {
    control.say("A run is at work: esc stops it first.");
    return;
  }
  control.screen.clearHint();
  const points = session.rewindPoints().toReversed();
  if (points.length === 0) {
    control.say("There is nothing to go back to.", "muted");
    return;
  }
  const { now } = control.screen.context;
  const panel: Picker<RewindPoint> = new Picker({
    title: "Back to before",
    items: points.map((point) => ({
      label: point.text.slice(0, 300),
      note: `${agoText(now - point.time)}${point.files.length === 0 ? "" : `, ${counted(point.files.length, "file")} changed since`}`,
      value: point,
      preview: () => [...textLines(point.text).slice(0, 3), ...point.files.slice(0, 3)],
    })),
    onChoose: (point) => {
      control.screen.close(panel);
      chooseWhat(control, point);
    },
    onCancel: () => control.screen.close(panel),
  });
  control.screen.open(panel);
}

interface What {
  readonly conversation: boolean;
  readonly files: boolean;
}

function chooseWhat(control: Control, point: RewindPoint): void {
  const files = point.files.length === 0 ? "no file was changed since" : point.files.slice(0, 4).join(", ");
  const panel: Picker<What> = new Picker<What>({
    title: "What goes back",
    items: [
      { label: "Conversation and files", note: files, value: { conversation: true, files: true } },
      { label: "Conversation only", value: { conversation: true, files: false } },
      { label: "Files only", note: files, value: { conversation: false, files: true } },
    ],
    marked: point.files.length === 0 ? 1 : 0,
    onChoose: (what) => {
      control.screen.close(panel);
      control.run(rewind(control, point, what));
    },
    onCancel: () => control.screen.close(panel),
  });
  control.screen.open(panel);
}

async function rewind(control: Control, point: RewindPoint, what: What): Promise<void> {
  const { session, input } = control.screen;
  if (session === undefined) return;
  const report = await session.rewind(point.entryId, what);
  if (report.files !== undefined)
    control.print(textLines(rollbackText(report.files, { isDry: false, on: "screen" }).trimEnd()));
  if (report.status === "refused") control.say("Nothing was changed.", "bad");
  else if (what.conversation && input.isEmpty) input.replace(report.text);
  control.screen.draw();
}
