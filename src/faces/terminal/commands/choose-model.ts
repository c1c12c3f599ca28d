import { LOCAL_MODEL } from "../../../coding/setup/model-choice.ts";
import { isRecord } from "../../../core/base/json.ts";
import type { PickerItem } from "../panels/picker.ts";
import { tokensText } from "../views/amounts.ts";
import { type Control, recordsIn } from "./control.ts";

/** Lets a person choose the model, with windows and prices; `/model NAME` takes it at once. */
export async function chooseModel(control: Control, args: string): Promise<void> {
  if (args !== "") {
    await setModel(control, args);
    return;
  }
  control.say("looking for models", "muted");
  const items = modelItems(await control.ports.command(["models", "--json"]));
  control.screen.clearHint();
  const current = control.screen.session?.view.model;
  control.pick({
    title: "Model",
    items,
    marked: items.findIndex(({ value }) => value === current),
    onChoose: (name) => control.run(setModel(control, name)),
  });
}

async function setModel(control: Control, name: string): Promise<void> {
  const { session } = control.screen;
  await session?.setModel(name);
  const chosen = name === LOCAL_MODEL ? session?.info.model.name : name;
  await control.ports.saveModel(name);
  control.say(`The model is ${chosen ?? name} from now on, also at the next start.`, "good");
}

/** The models that can be used first: those with a key, or of a local server. */
function modelItems(json: string): readonly PickerItem<string>[] {
  const items = recordsIn(json).flatMap((row) => {
    if (!Array.isArray(row["models"])) return [];
    const isUsable = row["credentials"] !== "none";
    const models: readonly unknown[] = row["models"];
    return models.flatMap((model) => {
      if (!isRecord(model)) return [];
      const name = `${String(row["provider"])}/${String(model["id"])}`;
      const missing = isUsable ? "" : `needs ${String(row["variable"] ?? "a key")}`;
      return [
        {
          label: name,
          note: [missing, factsOf(model["info"])].filter((each) => each !== "").join(", "),
          value: name,
          isUsable,
        },
      ];
    });
  });
  return [...items.filter(({ isUsable }) => isUsable), ...items.filter(({ isUsable }) => !isUsable)];
}

function factsOf(info: unknown): string {
  if (!isRecord(info)) return "";
  const { contextWindow, price } = info;
  const window = typeof contextWindow === "number" ? `${tokensText(contextWindow)} window` : "";
  const money = isRecord(price)
    ? `$${String(price["input"])} in, $${String(price["output"])} out per M`
    : "price unknown";
  return [window, money].filter((each) => each !== "").join(", ");
}
