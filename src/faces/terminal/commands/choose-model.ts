import { userPaths } from "../../../coding/settings/paths.ts";
import { errorMessage } from "../../../core/base/errors.ts";
import { isRecord } from "../../../core/base/json.ts";
import { LOCAL_BASE_URLS } from "../../../providers/local/local-servers.ts";
import { LOCAL_MODEL } from "../../../providers/model-choice.ts";
import { tokensText } from "../../text/amounts.ts";
import { type Line, span } from "../paint/line.ts";
import type { PickerItem } from "../panels/picker.ts";
import { type Control, ownCommand, recordsIn } from "./control.ts";

/** `missing`: the variable for the provider's key, if there is no key. */
type ModelChoice = { readonly name: string; readonly missing?: string | undefined } | "server";

export async function chooseModel(control: Control, args: string): Promise<void> {
  if (args !== "") {
    await setModel(control, args);
    return;
  }
  control.say("looking for models", "muted");
  const json = await ownCommand(["models", "--json"], control.ports);
  control.screen.clearHint();
  const { model = "", effort } = control.screen.session?.view ?? {};
  const items = modelItems(json, model);
  let chosen = Math.max(0, EFFORTS.indexOf(effort));
  const suffix = (): string => (EFFORTS[chosen] === undefined ? "" : `:${EFFORTS[chosen] ?? ""}`);
  control.pick<ModelChoice>({
    title: "Model",
    right: "$ per 1M tokens, in / out",
    items,
    selected: Math.max(
      0,
      items.findIndex(({ value }) => value !== "server" && value.name === model),
    ),
    side: () => effortRow(chosen),
    onKey: (key, at) => {
      if (key !== "left" && key !== "right") return undefined;
      chosen = Math.max(0, Math.min(EFFORTS.length - 1, chosen + (key === "left" ? -1 : 1)));
      return at;
    },
    keys: [control.ports.isScratch === true ? "enter use" : "enter use, also at the next start"],
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
      ? await promptForServer(control)
      : await promptForKey(control, { provider, id: id.join("/") });
  if (name !== undefined) await setModel(control, name + suffix);
}

async function setModel(control: Control, name: string): Promise<void> {
  const { session } = control.screen;
  await session?.setModel(name);
  const chosen = name === LOCAL_MODEL ? session?.info.model.name : name;
  const when = (await saveModelChoice(control, name)) ? "from now on, also at the next start" : "from now on";
  control.say(`The model is ${chosen ?? name} ${when}.`, "good");
}

/** Makes a model the one of the next start. Resolves to false in a scratch folder, where nothing is kept. */
export async function saveModelChoice({ ports }: Control, name: string): Promise<boolean> {
  if (ports.isScratch === true) return false;
  const { saveModel } = await import("../../../coding/settings/saved-rules.ts");
  await saveModel(name, userPaths(ports.environment));
  return true;
}

const loadSetUp = () => import("../../../coding/setup/model-setup.ts");

/** They list the models of `openai` again. */
const DUPLICATE_PROVIDERS: ReadonlySet<unknown> = new Set(["openai-chat", "openai-responses"]);

/** The usable models first: those with a key or on a local server; another server last. */
function modelItems(json: string, current: string): readonly PickerItem<ModelChoice>[] {
  const items = recordsIn(json).flatMap((row): readonly PickerItem<ModelChoice>[] => {
    if (!Array.isArray(row["models"]) || DUPLICATE_PROVIDERS.has(row["provider"])) return [];
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

/** `400k`, `1M`. */
function windowText(tokens: number): string {
  return tokensText(tokens).replace(/\.0(?=[kM])/, "");
}

type SetUpChoice = "key" | "server" | "search" | "demo" | "leave" | { readonly key: string };

/** Offers ways to a model if none was found. Resolves to true once there may be one, to false to leave. */
export async function offerSetUp(control: Control, watchDemo: () => Promise<void>): Promise<boolean> {
  let replies: readonly string[] | undefined;
  for (;;) {
    const preview = replies;
    const choice = await control.choose<SetUpChoice>({
      title: "No model yet",
      isSearched: false,
      items: [
        { label: "Paste a key", note: "of Anthropic, OpenAI, Gemini, DeepSeek, OpenRouter, …", value: "key" },
        { label: "Give a base URL", note: "of any server that speaks Chat Completions", value: "server" },
        {
          label: preview === undefined ? "Look for local servers" : "Look again",
          note: "Ollama, LM Studio, llama.cpp, vLLM",
          value: "search",
          ...(preview && { preview: () => preview }),
        },
        { label: "Watch the demo", note: "needs no model", value: "demo" },
        {
          label: "Leave",
          note: "keys are also read from the environment: nano-agent models",
          value: "leave",
        },
      ],
      selected: preview === undefined ? 0 : 2,
      fromPaste: (key) => ({ key }),
    });
    if (choice === undefined || choice === "leave") return false;
    if (choice === "demo") await watchDemo();
    else if (choice === "search") {
      control.say("looking", "muted");
      replies = await (await loadSetUp()).localServerLines(control.ports);
      control.screen.clearHint();
      if (replies.some((row) => !/(?:no answer|no model|its model)$/.test(row))) return true;
    } else {
      const work =
        choice === "server"
          ? promptForServer(control)
          : promptForKey(control, choice === "key" ? {} : choice);
      if ((await work) !== undefined) return true;
    }
  }
}

interface KeyPrompt {
  readonly key?: string;
  readonly provider?: string;
  /** The model the key is for; default: the provider's usual one. */
  readonly id?: string;
  readonly fault?: string;
}

/**
 * Reads a key, tries it at once and stores it. Resolves to a model the key works for, or undefined if the
 * person went back.
 */
async function promptForKey(control: Control, hints: KeyPrompt = {}): Promise<string | undefined> {
  const { provider, id, fault: problem } = hints;
  const key = await (hints.key ??
    control.ask({
      title: provider === undefined ? "Paste a key" : `Paste a key of ${provider}`,
      notes: ["It is tried at once, and kept in a file that only you can read."],
      problem,
      isSecret: true,
      enter: "try it",
    }));
  if (key === undefined) return undefined;
  const setUp = await loadSetUp();
  const owners = provider === undefined ? setUp.ownersOf(key.trim()) : [provider];
  const owner = owners.length === 1 ? owners[0] : await pickOne(control, "Whose key is it?", owners);
  if (owner === undefined) return undefined;
  control.say(`trying the key with ${owner}`, "muted");
  const tried = await tryModel(setUp.setUpModel({ provider: owner, key: key.trim(), id }, control.ports));
  control.screen.clearHint();
  if ("name" in tried) return tried.name;
  const { key: _key, ...rest } = hints;
  return await promptForKey(control, { ...rest, ...tried });
}

/** Reads an address, lists the server's models and stores the choice. Resolves like {@link promptForKey}. */
async function promptForServer(
  control: Control,
  known: { readonly baseUrl?: string; readonly key?: string; readonly fault?: string } = {},
): Promise<string | undefined> {
  const given =
    known.baseUrl ??
    (await control.ask({
      title: "Base URL of the server",
      notes: ["Such as http://localhost:8000/v1. Its models are listed next."],
      problem: known.fault,
      enter: "list its models",
    }));
  if (given === undefined) return undefined;
  const scheme = /^(?:localhost|127\.|\[::1\])/.test(given) ? "http" : "https";
  const baseUrl = given.includes("://") ? given : `${scheme}://${given}`;
  if (!/^https?:\/\/[^\s/]/.test(baseUrl))
    return await promptForServer(control, { fault: "An address begins with http:// or https://." });
  const setUp = await loadSetUp();
  control.say(`asking ${baseUrl} for its models`, "muted");
  const listed = await setUp.modelsAt(baseUrl, known.key);
  control.screen.clearHint();
  if ("problem" in listed) {
    if (!listed.wantsKey) return await promptForServer(control, { fault: listed.problem });
    const key = await control.ask({
      title: "Paste its key",
      notes: [listed.problem],
      isSecret: true,
      enter: "use it",
    });
    return key === undefined ? undefined : await promptForServer(control, { baseUrl, key });
  }
  const id = await pickOne(control, `Models at ${listed.baseUrl}`, listed.models);
  if (id === undefined) return undefined;
  control.say(`trying ${id}`, "muted");
  const tried = await tryModel(
    setUp.setUpModel({ baseUrl: listed.baseUrl, key: known.key, id }, control.ports),
  );
  control.screen.clearHint();
  return "name" in tried ? tried.name : await promptForServer(control, tried);
}

async function tryModel(
  work: Promise<string>,
): Promise<{ readonly name: string } | { readonly fault: string }> {
  try {
    return { name: await work };
  } catch (error) {
    return { fault: errorMessage(error) };
  }
}

function pickOne(control: Control, title: string, names: readonly string[]): Promise<string | undefined> {
  return control.choose({ title, items: names.map((name) => ({ label: name, value: name })) });
}
