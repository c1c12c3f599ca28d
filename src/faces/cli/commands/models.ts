import type { Settings } from "../../../coding/settings/settings.ts";
import { modelsAt, tryModel } from "../../../coding/setup/model-setup.ts";
import { invalidArgument, toNanoAgentError } from "../../../core/base/errors.ts";
import type { ModelInfo } from "../../../core/model/model.ts";
import { findPreset, PRESETS, type Preset, providerAddress } from "../../../providers/catalog.ts";
import {
  findLocalServers,
  LOCAL_BASE_URLS,
  type LocalServer,
  requireOnlyModel,
} from "../../../providers/local/local-servers.ts";
import {
  chooseModel,
  keyVariableOf,
  LOCAL_MODEL,
  resolveLocalName,
} from "../../../providers/model-choice.ts";
import { knownModelIds, knownModelInfo } from "../../../providers/model-info.ts";
import { EXIT, exitCodeOfError } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { CommandCall } from "../command-call.ts";
import { loadLocalSettings, writeResult } from "../command-context.ts";
import { explainError } from "../explain-error.ts";

interface ProviderRow {
  readonly provider: string;
  /** `key`: set · `none`: missing · `local`: not needed. */
  readonly credentials: "key" | "none" | "local";
  /** The variable that holds the key, or should. */
  readonly variable: string | undefined;
  readonly defaultModel?: string | undefined;
  readonly note?: string | undefined;
  readonly models: readonly { readonly id: string; readonly info?: ModelInfo | undefined }[];
}

/** `nano-agent models [PROVIDER]`: the models available for `-m`, and what is missing for them. */
export async function models(call: CommandCall): Promise<number> {
  const settings = await loadLocalSettings(call);
  const { environment } = settings;
  const custom = Object.entries(settings.config.values.providers ?? {});
  const [wanted] = call.words;
  const chosen =
    wanted === undefined || custom.some(([name]) => name === wanted) ? wanted : findPreset(wanted).name;
  const servers = await findLocalServers({ environment, config: settings.config.values });
  const queried = PRESETS.filter(({ name }) => chosen === undefined || name === chosen);
  const listed = new Map(
    await Promise.all(
      queried.map(async (preset) => [preset.name, await modelsListedBy(preset, settings)] as const),
    ),
  );
  const rows = [
    ...custom.map(
      ([provider, { apiKeyEnv, models = {} }]): ProviderRow => ({
        provider,
        credentials:
          apiKeyEnv === undefined ? "local" : environment[apiKeyEnv] === undefined ? "none" : "key",
        variable: apiKeyEnv,
        models: Object.entries(models).map(([id, info]) => ({ id, info })),
      }),
    ),
    ...PRESETS.map((preset) =>
      rowOf(preset, keyVariableOf(preset, environment), servers, listed.get(preset.name) ?? []),
    ),
  ].filter(({ provider }) => chosen === undefined || provider === chosen);
  return writeResult(call, rows, rows.map(describe).join(""));
}

/** The models listed by a server at a custom address of the provider; none if it does not answer. */
async function modelsListedBy(preset: Preset, { environment, config }: Settings): Promise<readonly string[]> {
  const baseUrl = providerAddress(preset.name, { environment, config: config.values });
  const isProbed = preset.local === true && preset.name !== "custom";
  if (isProbed || baseUrl === undefined || baseUrl === preset.baseUrl) return [];
  const name = keyVariableOf(preset, environment);
  const listed = await modelsAt(baseUrl, name === undefined ? undefined : environment[name]);
  return "models" in listed ? listed.models : [];
}

/** `listed`: the models listed by a server at a custom address. */
function rowOf(
  preset: Preset,
  variable: string | undefined,
  servers: readonly LocalServer[],
  listed: readonly string[],
): ProviderRow {
  const { name, local, keyVariables, defaultModel, note } = preset;
  const served = servers.find(({ provider }) => provider === name)?.models ?? [];
  return {
    provider: name,
    credentials: local === true ? "local" : variable === undefined ? "none" : "key",
    variable: variable ?? keyVariables[0],
    defaultModel,
    note,
    models: [
      ...served.map((id) => ({ id })),
      ...(listed.length > 0 ? listed : knownModelIds(name)).map((id) => ({
        id,
        info: knownModelInfo(name, id),
      })),
    ],
  };
}

function describe(row: ProviderRow): string {
  const lines = [`${row.provider}  ${credentialsLine(row)}`];
  if (row.note !== undefined) lines.push(`    ${row.note}`);
  for (const { id, info } of row.models)
    lines.push(`  ${`${row.provider}/${id}`.padEnd(40)} ${infoLine(info)}`.trimEnd());
  return `${lines.join("\n")}\n`;
}

function credentialsLine({ credentials, variable = "", defaultModel, models }: ProviderRow): string {
  const standard = defaultModel === undefined ? "" : `, default ${defaultModel}`;
  if (credentials === "key") return `key from ${variable}${standard}`;
  if (credentials === "none") return `no key: set ${variable}${standard}`;
  return models.length === 0 ? "no key needed; no server answered" : "no key needed";
}

function infoLine(info: ModelInfo | undefined): string {
  const { contextWindow, price } = info ?? {};
  const window = contextWindow === undefined ? [] : [`${Math.round(contextWindow / 1_000)}k window`];
  const cost = price === undefined ? [] : [`$${price.input} in, $${price.output} out per million tokens`];
  return [...window, ...cost].join(", ");
}

/**
 * `nano-agent auth check [PROVIDER]`: makes one request of a few tokens to the model that would be used (or
 * the provider's default) and tells whether its key is accepted. Exit 0, or the code of the failure.
 */
export async function auth(call: CommandCall): Promise<number> {
  const [provider] = call.words;
  const settings = await loadLocalSettings(call);
  const { config, environment } = settings;
  const name =
    provider === undefined
      ? (await chooseModel({ config, environment })).name
      : await modelOf(provider, settings);
  const preset = PRESETS.find((each) => each.name === name.split("/", 1)[0]);
  const key = preset === undefined ? undefined : keyVariableOf(preset, environment);
  const report = (ok: boolean, message: string): void => {
    writeResult(call, { model: name, ok, key, message }, `${name}: ${terminalLine(message, 2_000)}\n`);
  };
  try {
    await tryModel(name, settings);
    report(true, key === undefined ? "it answers." : `the key from ${key} is accepted.`);
    return EXIT.done;
  } catch (thrown) {
    const error = toNanoAgentError(thrown);
    report(false, explainError(error, { settings, model: name }));
    return exitCodeOfError(error.code);
  }
}

async function modelOf(provider: string, { environment, config }: Settings): Promise<string> {
  if (provider === LOCAL_MODEL) return resolveLocalName(provider, { environment, config: config.values });
  if (provider.includes("/")) return provider;
  const preset = findPreset(provider);
  const id = preset.defaultModel ?? knownModelIds(preset.name)[0];
  if (id !== undefined) return `${preset.name}/${id}`;
  if (preset.name in LOCAL_BASE_URLS)
    return requireOnlyModel(preset.name, { environment, config: config.values });
  throw invalidArgument(
    `${preset.name} has no default model. Name one: nano-agent auth check ${preset.name}/ID.`,
  );
}
