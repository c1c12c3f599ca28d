import type { Settings } from "../../../coding/settings/settings.ts";
import { tryModel } from "../../../coding/setup/model-setup.ts";
import { misuse, toNanoAgentError } from "../../../core/base/errors.ts";
import { findPreset, PRESETS } from "../../../providers/catalog.ts";
import { onlyModelOf, LOCAL_BASE_URLS } from "../../../providers/local/local-servers.ts";
import { chooseModel, keyVariableOf, LOCAL_MODEL, namedModel } from "../../../providers/model-choice.ts";
import { knownModelIds } from "../../../providers/model-info.ts";
import { EXIT, exitCodeOfError } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { CommandCall } from "../command-call.ts";
import { answer, type CommandContext, settingsHere } from "../command-context.ts";
import { explainError } from "../explain-error.ts";

/**
 * `nano-agent auth check [PROVIDER]`: makes one request of a few tokens to the model that would be used (or
 * the provider's default) and says whether its key is accepted. Exit 0, or the code of what went wrong.
 */
export async function auth(context: CommandContext, call: CommandCall): Promise<number> {
  const [provider] = call.words;
  const settings = await settingsHere(context);
  const { config, environment } = settings;
  const name =
    provider === undefined
      ? (await chooseModel({ config, environment })).name
      : await modelOf(provider, settings);
  const preset = PRESETS.find((each) => each.name === name.split("/", 1)[0]);
  const key = preset === undefined ? undefined : keyVariableOf(preset, environment);
  const report = (ok: boolean, message: string): void => {
    answer(context, call, {
      json: () => ({ model: name, ok, key, message }),
      text: () => `${name}: ${terminalLine(message, 2_000)}\n`,
    });
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
  if (provider === LOCAL_MODEL) return namedModel(provider, { environment, config: config.values });
  if (provider.includes("/")) return provider;
  const preset = findPreset(provider);
  const id = preset.defaultModel ?? knownModelIds(preset.name)[0];
  if (id !== undefined) return `${preset.name}/${id}`;
  if (preset.name in LOCAL_BASE_URLS) return onlyModelOf(preset.name, { environment, config: config.values });
  throw misuse(`${preset.name} has no default model. Name one: nano-agent auth check ${preset.name}/ID.`);
}
