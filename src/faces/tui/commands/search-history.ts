import { textLines } from "../paint/line.ts";
import { Picker } from "../panels/picker.ts";
import type { Control } from "./control.ts";

/** Lets a person search what was typed before, in this session and the ones before it in this folder. */
export function openHistorySearch(control: Control): void {
  const { input } = control.screen;
  const texts = input.past();
  if (texts.length === 0) {
    control.say("Nothing was typed before in this folder.", "muted");
    return;
  }
  const panel: Picker<string> = new Picker({
    title: "Typed before",
    items: texts.toReversed().map((text) => ({
      label: text.slice(0, 500),
      value: text,
      preview: () => textLines(text).slice(0, 4),
    })),
    onChoose: (text) => {
      control.screen.close(panel);
      input.replace(text);
      control.screen.draw();
    },
    onCancel: () => control.screen.close(panel),
  });
  control.screen.open(panel);
}
