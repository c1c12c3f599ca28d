import { isRecord } from "../../../core/base/json.ts";
import { LOCAL_BASE_URLS } from "../../../providers/local/local-servers.ts";
import { LOCAL_MODEL } from "../../../providers/model-choice.ts";
import { type Line, span } from "../paint/line.ts";
import type { PickerItem } from "../panels/picker.ts";
import { tokensText } from "../views/amounts.ts";
import { type Control, recordsIn } from "./control.ts";
import { giveBaseUrl, pasteKey } from "./set-up.ts";

/** A row of the list: a model, with the variable that its provider's key is missing in; or another server. */
type ModelChoice = { readonly name: string; readonly missing?: string | undefined } | "server";

/** Lets a person choose the model, with windows and prices; `/model NAME` takes it at once. */
export async function chooseModel(control: Control, args: string): Promise<void> {
  if (args !== "") {
    await setModel(control, args);
    return;
  }
  control.say("looking for models", "muted");
  const json = await control.ports.command(["models", "--json"]);
  control.screen.clearHint();
  const { model = "", effort } = control.screen.session?.view ?? {};
  const items = modelItems(json, model);
  let chosen = Math.max(0, EFFORTS.indexOf(effort));
  const suffix = (): string => (EFFORTS[chosen] === undefined ? "" : `:${EFFORTS[chosen] ?? ""}`);
  control.pick<ModelChoice>({
    title: "Model",
    right: "$ per 1M tokens, in / out",
    items,
    marked: Math.max(
      0,
      items.findIndex(({ value }) => value !== "server" && value.name === model),
    ),
    side: {
      row: () => effortRow(chosen),
      turn: (by) => {
        chosen = Math.max(0, Math.min(EFFORTS.length - 1, chosen + by));
      },
    },
    keys: ["enter use, also at the next start"],
    onChoose: (choice) => control.run(useModel(control, choice, suffix())),
  });
}

const EFFORTS = [undefined, "low", "medium", "high"] as readonly (string | undefined)[];

function effortRow(chosen: number): Line {
  const words = EFFORTS.flatMap((effort, index) => {
    const word = effort ?? "usual";
    return index === chosen ? [span(`  [${word}]`, { bold: true })] : [span(`   ${word} `)];
  });
  return [span("  effort"), ...words, span("  ←→", { role: "muted" })];
}

async function useModel(control: Control, choice: ModelChoice, suffix: string): Promise<void> {
  if (choice !== "server" && choice.missing === undefined) {
    await setModel(control, choice.name + suffix);
    return;
  }
  const [provider = "", ...id] = choice === "server" ? [] : choice.name.split("/");
  const name =
    choice === "server"
      ? await giveBaseUrl(control)
      : await pasteKey(control, { provider, id: id.join("/") });
  if (name !== undefined) await setModel(control, name + suffix);
}

async function setModel(control: Control, name: string): Promise<void> {
  const { session } = control.screen;
  await session?.setModel(name);
  const chosen = name === LOCAL_MODEL ? session?.info.model.name : name;
  await control.ports.saveModel(name);
  control.say(`The model is ${chosen ?? name} from now on, also at the next start.`, "good");
}

/** The same models under another name. */
const DOUBLES: ReadonlySet<unknown> = new Set(["openai-chat", "openai-responses"]);

/** The models that can be used first: those with a key, or of a local server; another server last. */
function modelItems(json: string, current: string): readonly PickerItem<ModelChoice>[] {
  const items = recordsIn(json).flatMap((row): readonly PickerItem<ModelChoice>[] => {
    if (!Array.isArray(row["models"]) || DOUBLES.has(row["provider"])) return [];
    const provider = String(row["provider"]);
    const missing = row["credentials"] === "none" ? String(row["variable"] ?? "a key") : undefined;
    const isLocal = provider in LOCAL_BASE_URLS;
    const models: readonly unknown[] = row["models"];
    return models.filter(isRecord).map((model) => {
      const name = `${provider}/${String(model["id"])}`;
      const { window, price } = factsOf(model["info"], isLocal);
      const last = missing === undefined ? price : `needs ${missing}`;
      const note = `${provider.padEnd(11)} ${window.padStart(5)}  ${last}`;
      return {
        label: String(model["id"]),
        note: [
          span(note, { role: "muted" }),
          ...(name === current ? [span("  in use", { role: "accent" })] : []),
        ],
        find: name,
        isDim: missing !== undefined,
        value: { name, missing },
      };
    });
  });
  const server: PickerItem<ModelChoice> = {
    label: "another server",
    note: "give its base URL",
    value: "server",
    isDim: true,
  };
  return [...items.filter(({ isDim }) => isDim !== true), ...items.filter(({ isDim }) => isDim), server];
}

function factsOf(info: unknown, isLocal: boolean): { readonly window: string; readonly price: string } {
  const { contextWindow, price } = isRecord(info) ? info : {};
  const window = typeof contextWindow === "number" ? windowText(contextWindow) : "";
  if (!isRecord(price)) return { window, price: isLocal ? "free" : "price unknown" };
  const usd = (value: unknown): string => Number(value).toFixed(2);
  return { window, price: `${usd(price["input"]).padStart(5)} / ${usd(price["output"]).padStart(5)}` };
}

/** A whole number where it is one: `400k`, `1M`. */
function windowText(tokens: number): string {
  return tokensText(tokens).replace(/\.0(?=[kM])/, "");
}
