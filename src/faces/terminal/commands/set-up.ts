import { errorMessage } from "../../../core/base/errors.ts";
import type { Control } from "./control.ts";

/** Ways on where no model was found. */
export interface SetUp {
  /** A model may be there now. */
  readonly again: () => void;
  readonly demo: () => void;
  readonly leave: () => void;
}

/** Ways to a model, where none was found: a key, a server, the demo. `looked`: what answered by now. */
export function openSetUp(control: Control, setUp: SetUp, looked?: readonly string[]): void {
  const back = (): void => openSetUp(control, setUp, looked);
  const afterwards = (work: Promise<string | undefined>): void =>
    control.run(work.then((name) => (name === undefined ? back() : setUp.again())));
  const leaving = (): void => {
    setUp.demo();
    back();
  };
  control.pick<() => void>({
    title: "No model yet",
    isSearched: false,
    items: [
      {
        label: "Paste a key",
        note: "of Anthropic, OpenAI, Gemini, DeepSeek, OpenRouter, …",
        value: () => afterwards(pasteKey(control)),
      },
      {
        label: "Give a base URL",
        note: "of any server that speaks Chat Completions",
        value: () => afterwards(giveBaseUrl(control)),
      },
      {
        label: looked === undefined ? "Look for local servers" : "Look again",
        note: "Ollama, LM Studio, llama.cpp, vLLM",
        value: () => control.run(lookAgain(control, setUp)),
        ...(looked === undefined ? {} : { preview: () => looked }),
      },
      { label: "Watch the demo", note: "needs no model", value: leaving },
      {
        label: "Leave",
        note: "keys are also read from the environment: nano-agent models",
        value: setUp.leave,
      },
    ],
    marked: looked === undefined ? 0 : 2,
    onPaste: (key) => {
      control.screen.close();
      afterwards(pasteKey(control, { key }));
    },
    onChoose: (choose) => choose(),
    onCancel: setUp.leave,
  });
}

/** Says what was looked for and what answered; takes what can be used. */
async function lookAgain(control: Control, setUp: SetUp): Promise<void> {
  control.say("looking", "muted");
  const lines = await (await control.ports.modelSetUp()).localServers();
  control.screen.clearHint();
  if (lines.some((row) => !/(?:no answer|no model|its model)$/.test(row))) setUp.again();
  else openSetUp(control, setUp, lines);
}

/** Facts about a key before it is asked for. */
interface KeyHints {
  readonly key?: string;
  readonly provider?: string;
  /** The model it is for; default: the usual one of its provider. */
  readonly id?: string;
  readonly fault?: string;
}

/**
 * Takes a key, tries it at once and keeps it. Resolves to the name of a model it is good for; undefined: the
 * person went back.
 */
export async function pasteKey(control: Control, hints: KeyHints = {}): Promise<string | undefined> {
  const { provider, id, fault } = hints;
  const key = await (hints.key ??
    control.ask({
      title: provider === undefined ? "Paste a key" : `Paste a key of ${provider}`,
      notes: ["It is tried at once, and kept in a file that only you can read."],
      fault,
      isSecret: true,
      enter: "try it",
    }));
  if (key === undefined) return undefined;
  const ports = await control.ports.modelSetUp();
  const owners = provider === undefined ? ports.ownersOf(key.trim()) : [provider];
  const owner = owners.length === 1 ? owners[0] : await pickOne(control, "Whose key is it?", owners);
  if (owner === undefined) return undefined;
  control.say(`trying the key with ${owner}`, "muted");
  const tried = await attempt(ports.setUp({ provider: owner, key: key.trim(), id }));
  control.screen.clearHint();
  if ("name" in tried) return tried.name;
  const { key: _key, ...rest } = hints;
  return await pasteKey(control, { ...rest, ...tried });
}

interface Server {
  readonly baseUrl: string;
  readonly key?: string;
}

/** Takes the address of a server, lists its models, and keeps the one that is chosen. As {@link pasteKey}. */
export async function giveBaseUrl(
  control: Control,
  known?: Server,
  fault?: string,
): Promise<string | undefined> {
  const baseUrl =
    known?.baseUrl ??
    (await control.ask({
      title: "Base URL of the server",
      notes: ["Such as http://localhost:8000/v1. Its models are listed next."],
      fault,
      enter: "list its models",
    }));
  if (baseUrl === undefined) return undefined;
  if (!/^https?:\/\/[^\s/]/.test(baseUrl))
    return await giveBaseUrl(control, undefined, "An address begins with http:// or https://.");
  const ports = await control.ports.modelSetUp();
  control.say(`asking ${baseUrl} for its models`, "muted");
  const listed = await ports.modelsAt(baseUrl, known?.key);
  control.screen.clearHint();
  if ("problem" in listed) {
    if (!listed.wantsKey) return await giveBaseUrl(control, undefined, listed.problem);
    const key = await control.ask({
      title: "Paste its key",
      notes: [listed.problem],
      isSecret: true,
      enter: "use it",
    });
    return key === undefined ? undefined : await giveBaseUrl(control, { baseUrl, key });
  }
  const id = await pickOne(control, `Models at ${listed.baseUrl}`, listed.models);
  if (id === undefined) return undefined;
  control.say(`trying ${id}`, "muted");
  const tried = await attempt(ports.setUp({ baseUrl: listed.baseUrl, key: known?.key, id }));
  control.screen.clearHint();
  return "name" in tried ? tried.name : await giveBaseUrl(control, undefined, tried.fault);
}

async function attempt(
  work: Promise<string>,
): Promise<{ readonly name: string } | { readonly fault: string }> {
  try {
    return { name: await work };
  } catch (error) {
    return { fault: errorMessage(error) };
  }
}

function pickOne(control: Control, title: string, names: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    control.pick({
      title,
      items: names.map((name) => ({ label: name, value: name })),
      onChoose: resolve,
      onCancel: () => resolve(undefined),
    });
  });
}
