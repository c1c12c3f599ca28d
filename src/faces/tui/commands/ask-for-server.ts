import type { FoundModel } from "../../../app/model-choice.ts";
import { Picker } from "../panels/picker.ts";
import type { Control } from "./control.ts";

/** Asks whether a local server that was found, and not chosen, gets what is said. */
export function askForServer({ screen }: Control, { name, baseUrl }: FoundModel): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isYes: boolean): void => {
      screen.close(panel);
      resolve(isYes);
    };
    const panel: Picker<boolean> = new Picker<boolean>({
      title: "No model was chosen; a local server answers",
      items: [
        { label: "Do not use it", note: "a key can be set instead", value: false },
        { label: `Use ${name}`, note: `what you say goes to ${baseUrl}`, value: true },
      ],
      onChoose: answer,
      onCancel: () => answer(false),
    });
    screen.open(panel);
  });
}
