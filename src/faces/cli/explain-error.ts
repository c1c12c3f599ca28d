import type { Settings } from "../../coding/settings/settings.ts";
import type { NanoAgentError } from "../../core/base/errors.ts";
import { didYouMean } from "../../core/base/text.ts";
import { PRESETS } from "../../providers/catalog.ts";
import { keyVariableOf } from "../../providers/model-choice.ts";
import { knownModelIds } from "../../providers/model-info.ts";
import { NETWORK_NUMBERS } from "../../providers/network.ts";

export interface ErrorPlace {
  readonly settings: Settings | undefined;
  /** `provider/id`. */
  readonly model: string | undefined;
}

/** Describes an error in one line for a person, with advice for the terminal. Never contains a key. */
export function explainError(error: NanoAgentError, place: ErrorPlace): string {
  const message = error.message.replaceAll(/\s*\n\s*/g, " ").trim();
  switch (error.code) {
    case "authentication":
      return `${message}${keySource(error, place)}`;
    case "unknown_model":
      return `${message}${knownModels(place)}`;
    case "missing_credentials":
      return `${message} "nano-agent demo" runs now, without any model.`;
    case "internal":
      return `${message} This is a defect of nano-agent; please report it.`;
    default: {
      const { limit } = error.details;
      const variable = Object.entries(NETWORK_NUMBERS).find(([name]) => name === limit)?.[1].variable;
      return variable === undefined ? message : `${message} In the environment it is ${variable}.`;
    }
  }
}

function keySource(error: NanoAgentError, { settings }: ErrorPlace): string {
  const provider = error.details["provider"];
  if (settings === undefined || typeof provider !== "string") return "";
  const custom = settings.config.values.providers?.[provider]?.apiKeyEnv;
  const preset = PRESETS.find(({ name }) => name === provider);
  const source = custom ?? (preset === undefined ? undefined : keyVariableOf(preset, settings.environment));
  return source === undefined ? "" : ` The key came from ${source}.`;
}

function knownModels({ model, settings }: ErrorPlace): string {
  const [provider = "", ...rest] = model?.split("/") ?? [];
  const custom = Object.keys(settings?.config.values.providers?.[provider]?.models ?? {});
  const known = [...custom, ...knownModelIds(provider)];
  if (known.length === 0) return " See nano-agent models.";
  return `${didYouMean(rest.join("/"), known)} Known: ${known.slice(0, 8).join(", ")}.`;
}
