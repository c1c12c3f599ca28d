import type { CodingSession } from "../../../app/coding-session/coding-session.ts";
import { LOCAL_MODEL } from "../../../app/model-choice.ts";
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
  control.say(`The model is ${chosen ?? name} from the next request on.`, "good");
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
      const missing = isUsable ? "" : `set ${String(row["variable"] ?? "a key")}`;
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

/** Lets a person choose the permission mode; `/mode NAME` takes it at once. */
export async function chooseMode(control: Control, args: string): Promise<void> {
  const { session } = control.screen;
  const mode = MODES.find((each) => each.toLowerCase() === args.toLowerCase());
  if (session === undefined) return;
  if (mode !== undefined) {
    await session.setMode(mode);
    return;
  }
  control.pick({
    title: "Mode",
    items: MODES.map((name) => ({ label: name, note: MODE_WORDS[name], value: name })),
    marked: MODES.indexOf(session.view.mode),
    onChoose: (name) => control.run(session.setMode(name)),
  });
}

/** Goes to the next permission mode of those that ask a person. */
export function nextMode(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  const modes: readonly Mode[] = MODES.filter((mode) => mode !== "dontAsk");
  const next = modes[(modes.indexOf(session.view.mode) + 1) % modes.length] ?? "default";
  control.run(session.setMode(next).then(() => control.say(`${next}: ${MODE_WORDS[next]}`, "muted")));
}

type Mode = CodingSession["view"]["mode"];

/** The effect of each permission mode, in a few words. */
export const MODE_WORDS: { readonly [mode in Mode]: string } = {
  default: "reads in the workspace, asks for the rest",
  acceptEdits: "edits files of the workspace without asking",
  auto: "works freely in the workspace, asks for what leaves it",
  plan: "only reads",
  dontAsk: "asks nothing: what would be asked is refused",
  bypassPermissions: "everything runs unasked",
};

const MODES = Object.keys(MODE_WORDS) as Mode[];
