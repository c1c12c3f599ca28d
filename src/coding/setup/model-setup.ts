import { invalidArgument } from "../../core/base/errors.ts";
import { userMessage } from "../../core/message/message.ts";
import { collect } from "../../core/model/answer.ts";
import type { StreamPart } from "../../core/model/model.ts";
import { apiAddress, findPreset, PRESETS, providerAddress } from "../../providers/catalog.ts";
import { findLocalServers, idsIn } from "../../providers/local/local-servers.ts";
import { knownModelIds } from "../../providers/model-info.ts";
import { variable } from "../../system/env.ts";
import { saveKeys } from "../settings/saved-keys.ts";
import { saveModel } from "../settings/saved-rules.ts";
import { loadSettings, type Settings, type SettingsOptions } from "../settings/settings.ts";
import { openModel } from "./open-model.ts";

/** Time a server gets to list its models, and a model to answer one word. */
const LIST_MS = 5_000;
const TRY_MS = 60_000;

/** The models a server lists at `baseUrl`, or the reason there are none. */
export type ServerModels =
  | { readonly baseUrl: string; readonly models: readonly string[] }
  | { readonly problem: string; readonly wantsKey: boolean };

/** Asks an OpenAI-compatible server for its models, at the address or below its `/v1`. Never rejects. */
export async function modelsAt(given: string, apiKey?: string): Promise<ServerModels> {
  const { baseUrl } = apiAddress(given);
  const signal = AbortSignal.timeout(LIST_MS);
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  let problem = `Nothing answers at ${baseUrl}. Is the server running, and the address right?`;
  for (const base of /\/v\d+\w*$/.test(baseUrl) ? [baseUrl] : [`${baseUrl}/v1`, baseUrl]) {
    const response = await fetch(`${base}/models`, { method: "GET", headers, signal }).catch(() => undefined);
    if (response === undefined) continue;
    const { status } = response;
    if (status === 401 || status === 403) {
      const wanted = apiKey === undefined ? "a" : "another";
      return { problem: `${base}/models wants ${wanted} key (${status}).`, wantsKey: true };
    }
    const models = response.ok ? await modelIds(response) : undefined;
    if (models !== undefined) return { baseUrl: base, models };
    problem = `${base}/models answers ${status}, and not with a list of models.`;
  }
  return { problem, wantsKey: false };
}

async function modelIds(response: Response): Promise<readonly string[] | undefined> {
  const answer: unknown = await response.json().catch(() => undefined);
  return idsIn(answer, "data", "id");
}

/** Candidate providers for a key by its prefix; all that use keys if the prefix is inconclusive. */
export function ownersOf(key: string): readonly string[] {
  const known = KEY_BEGINNINGS.find(([shape]) => shape.test(key))?.[1];
  return (
    known ??
    PRESETS.filter(({ keyVariables, local }) => local !== true && keyVariables.length > 0).flatMap(
      ({ name }) => (name === "openai-chat" || name === "openai-responses" ? [] : [name]),
    )
  );
}

const KEY_BEGINNINGS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^sk-ant-/, ["anthropic"]],
  [/^sk-or-/, ["openrouter"]],
  [/^sk-(?:proj|svcacct|admin)-/, ["openai"]],
  [/^AIza/, ["google"]],
  [/^gsk_/, ["groq"]],
  [/^xai-/, ["xai"]],
  [/^csk-/, ["cerebras"]],
  [/^fw_/, ["fireworks"]],
  [/^sk-/, ["openai", "deepseek", "moonshot", "qwen"]],
];

/** Sends a model one request of a few tokens. Throws its provider's error. */
export async function tryModel(
  name: string,
  { environment, config }: Pick<Settings, "environment" | "config">,
): Promise<void> {
  const { network, ...values } = config.values;
  const model = await openModel(name, {
    environment,
    config: { ...values, network: { ...network, maxRetries: 0 }, fallbackModels: [] },
    onNotice: () => undefined,
  });
  const request = { messages: [userMessage("Say ok.")], maxOutputTokens: 16 };
  await collect(withoutWaiting(model.stream(request, { signal: AbortSignal.timeout(TRY_MS) })));
}

/** Throws instead of waiting while a server loads its model, the only retry left when retries are off. */
async function* withoutWaiting(parts: AsyncIterable<StreamPart>): AsyncGenerator<StreamPart> {
  for await (const part of parts) {
    if (part.type === "retry") throw part.error;
    yield part;
  }
}

/** A model that a person sets up: a provider and its key, or a server and its optional key. */
export type NewModel =
  | { readonly provider: string; readonly key: string; readonly id?: string | undefined }
  | { readonly baseUrl: string; readonly key?: string | undefined; readonly id: string };

/**
 * Tries a model with one request, then saves its key and makes it the default. Resolves to its name. Throws
 * the provider's error, and if a variable is set that would win; nothing is saved then.
 */
export async function setUpModel(given: NewModel, options: SettingsOptions): Promise<string> {
  const settings = await loadSettings(options);
  const { name, values } = "provider" in given ? await providerModel(given) : serverModel(given);
  const conflicting = Object.keys(values).find(
    (each) => (variable(options.environment, each) ?? values[each]) !== values[each],
  );
  if (conflicting !== undefined)
    throw invalidArgument(
      `${conflicting} is set in the environment, which wins over what is saved here. Unset it, or set it to this.`,
    );
  await tryModel(name, { ...settings, environment: { ...settings.environment, ...values } });
  await saveKeys(values, settings.paths);
  await saveModel(name, settings.paths);
  return name;
}

interface NamedModel {
  readonly name: string;
  readonly values: Readonly<Record<string, string>>;
}

async function providerModel(given: Extract<NewModel, { readonly provider: string }>): Promise<NamedModel> {
  const { provider, key, id } = given;
  const preset = findPreset(provider);
  let model = id ?? preset.defaultModel ?? knownModelIds(preset.name)[0];
  if (model === undefined) {
    const listed = await modelsAt(preset.baseUrl, key);
    if ("problem" in listed) throw invalidArgument(listed.problem);
    [model] = listed.models;
  }
  if (model === undefined) throw invalidArgument(`${preset.name} lists no models for this key.`);
  return { name: `${preset.name}/${model}`, values: { [preset.keyVariables[0] ?? ""]: key } };
}

function serverModel({ baseUrl, key, id }: Extract<NewModel, { readonly baseUrl: string }>): NamedModel {
  const [keyName = ""] = findPreset("custom").keyVariables;
  return {
    name: `custom/${id}`,
    values: { CUSTOM_BASE_URL: baseUrl, ...(key === undefined ? {} : { [keyName]: key }) },
  };
}

/** Each local server that is probed, with its address and response, one per line. */
export async function localServerLines(options: SettingsOptions): Promise<readonly string[]> {
  const { environment, config } = await loadSettings(options);
  const place = { environment, config: config.values };
  const found = await findLocalServers(place);
  return PRESETS.filter(({ local, name }) => local === true && name !== "custom").map(({ name }) => {
    const server = found.find(({ provider }) => provider === name);
    const models = server?.models ?? [];
    const answer =
      server === undefined
        ? "no answer"
        : server.isLoading === true
          ? "is loading its model"
          : models.length === 0
            ? "answers, and has no model"
            : models.slice(0, 3).join(", ");
    return `${name.padEnd(9)} ${providerAddress(name, place) ?? ""}  ${answer}`;
  });
}
