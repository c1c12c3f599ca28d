import { NanoAgentError } from "../core/base/errors.ts";
import { ownValue } from "../core/base/json.ts";
import { editDistance } from "../core/base/text.ts";
import type { WireName } from "../core/message/message.ts";
import { type Environment, variable } from "../system/env.ts";

/** How to reach a provider. */
export interface Preset {
  /** First part of a model name: `deepseek` in `deepseek/deepseek-v4-pro`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly wire: WireName;
  /** Without a trailing slash. Empty for `custom`, which must be configured. */
  readonly baseUrl: string;
  /** Environment variables that may hold the key; the first one set wins. Empty: no key is needed. */
  readonly keyVariables: readonly string[];
  /** Variables whose key is sent as a bearer token instead of in the wire's own header. */
  readonly tokenVariables?: readonly string[];
  /** Environment variables that may override the base URL. */
  readonly baseUrlVariables: readonly string[];
  /** Runs on the user's machine or network: no key is required, and nothing is charged. */
  readonly local?: boolean;
  /** Default model. Absent if there is none that every account has. */
  readonly defaultModel?: string;
  /** Note for the user. */
  readonly note?: string;
}

/** All providers known by name, in the order in which their keys are looked up. */
export const PRESETS: readonly Preset[] = [
  {
    ...hosted("anthropic", "anthropic", "https://api.anthropic.com/v1"),
    tokenVariables: ["ANTHROPIC_AUTH_TOKEN"],
    defaultModel: "claude-sonnet-5",
    note: "A base URL without /v1 gets it, so addresses made for Anthropic's own tools work.",
  },
  {
    ...hosted("openai", "openai_responses", "https://api.openai.com/v1"),
    defaultModel: "gpt-5.5",
    note: "Speaks Responses at OpenAI's own host and Chat Completions at any other base URL.",
  },
  {
    ...hosted("google", "google", "https://generativelanguage.googleapis.com/v1beta"),
    aliases: ["gemini"],
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    baseUrlVariables: ["GEMINI_BASE_URL", "GOOGLE_BASE_URL"],
    defaultModel: "gemini-3.8-flash",
  },
  { ...hosted("deepseek", "openai_chat", "https://api.deepseek.com/v1"), defaultModel: "deepseek-v4-pro" },
  {
    ...hosted("openrouter", "openai_chat", "https://openrouter.ai/api/v1"),
    // Their router, which chooses a model for each request.
    defaultModel: "openrouter/auto",
    note: "Ids have two parts: openrouter/anthropic/claude-sonnet-5.",
  },
  {
    ...hosted("moonshot", "openai_chat", "https://api.moonshot.ai/v1"),
    aliases: ["kimi", "moonshotai"],
    keyVariables: ["MOONSHOT_API_KEY", "KIMI_API_KEY"],
    defaultModel: "kimi-k3",
    note: "In China: MOONSHOT_BASE_URL=https://api.moonshot.cn/v1.",
  },
  {
    ...hosted("qwen", "openai_chat", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"),
    aliases: ["dashscope", "alibaba"],
    keyVariables: ["QWEN_API_KEY", "DASHSCOPE_API_KEY"],
    baseUrlVariables: ["QWEN_BASE_URL", "DASHSCOPE_BASE_URL"],
    defaultModel: "qwen3-coder-plus",
    note: "In China: QWEN_BASE_URL=https://dashscope.aliyuncs.com/compatible-mode/v1.",
  },
  {
    ...hosted("zhipu", "openai_chat", "https://open.bigmodel.cn/api/paas/v4"),
    aliases: ["zai", "glm", "bigmodel"],
    keyVariables: ["ZHIPU_API_KEY", "ZHIPUAI_API_KEY", "ZAI_API_KEY"],
    defaultModel: "glm-4.6",
    note: "Outside China: ZHIPU_BASE_URL=https://api.z.ai/api/paas/v4.",
  },
  { ...hosted("mistral", "openai_chat", "https://api.mistral.ai/v1"), defaultModel: "mistral-medium-latest" },
  { ...hosted("groq", "openai_chat", "https://api.groq.com/openai/v1"), defaultModel: "openai/gpt-oss-120b" },
  { ...hosted("xai", "openai_chat", "https://api.x.ai/v1"), aliases: ["grok"], defaultModel: "grok-4.6" },
  { ...hosted("together", "openai_chat", "https://api.together.xyz/v1") },
  { ...hosted("fireworks", "openai_chat", "https://api.fireworks.ai/inference/v1") },
  { ...hosted("cerebras", "openai_chat", "https://api.cerebras.ai/v1") },
  openAiPreset("openai-chat", "openai_chat"),
  openAiPreset("openai-responses", "openai_responses"),
  localPreset("ollama", "http://127.0.0.1:11434/v1"),
  localPreset("lmstudio", "http://127.0.0.1:1234/v1"),
  localPreset("llamacpp", "http://127.0.0.1:8080/v1"),
  localPreset("vllm", "http://127.0.0.1:8000/v1"),
  {
    ...localPreset("custom", ""),
    note: "Any server that speaks Chat Completions. Set CUSTOM_BASE_URL, and CUSTOM_API_KEY if it wants a key.",
  },
];

/** The preset with this exact name or alias. */
export function presetNamed(name: string, presets: readonly Preset[] = PRESETS): Preset | undefined {
  return presets.find((preset) => preset.name === name || preset.aliases?.includes(name) === true);
}

/** The preset with this name or alias, in any case. Throws `unknown_provider`, listing the nearest first. */
export function findPreset(name: string, presets: readonly Preset[] = PRESETS): Preset {
  const wanted = name.toLowerCase();
  const found = presetNamed(wanted, presets);
  if (found !== undefined) return found;
  const known = presets.map((preset) => preset.name);
  const nearest = known.toSorted((left, right) => editDistance(wanted, left) - editDistance(wanted, right));
  throw new NanoAgentError(
    "unknown_provider",
    `There is no provider "${name}". Use one of: ${nearest.join(", ")}; or define it under "providers" in the configuration.`,
    { details: { provider: name, known: nearest } },
  );
}

/** The variables of a provider without a preset: `MY_GATEWAY_API_KEY` for `my-gateway`. */
export function standardVariables(name: string): { readonly [K in "key" | "baseUrl" | "model"]: string } {
  const stem = name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_");
  return { key: `${stem}_API_KEY`, baseUrl: `${stem}_BASE_URL`, model: `${stem}_MODEL` };
}

function hosted(name: string, wire: WireName, baseUrl: string): Preset {
  const { key, baseUrl: variable } = standardVariables(name);
  return { name, wire, baseUrl, keyVariables: [key], baseUrlVariables: [variable] };
}

function openAiPreset(name: string, wire: WireName): Preset {
  return {
    ...hosted("openai", wire, "https://api.openai.com/v1"),
    name,
    note: "Like openai, with the wire format chosen by hand.",
  };
}

function localPreset(name: string, baseUrl: string): Preset {
  return { ...hosted(name, "openai_chat", baseUrl), local: true };
}

export interface AddressOptions {
  readonly environment: Environment;
  readonly config: {
    readonly providers?: {
      readonly [name: string]: { readonly baseUrl?: string; readonly apiKeyEnv?: string };
    };
  };
}

/**
 * The base URL for requests to a provider: configured, from its variable, or the default. Undefined if the
 * provider is unknown or has none.
 */
export function providerAddress(
  provider: string,
  { config, environment }: AddressOptions,
): string | undefined {
  const own = ownValue(config.providers ?? {}, provider);
  const preset = presetNamed(provider.toLowerCase());
  const standard = own === undefined ? [] : [standardVariables(provider).baseUrl];
  const given = (preset?.baseUrlVariables ?? standard)
    .map((name) => variable(environment, name))
    .find((url) => url !== undefined);
  return [own?.baseUrl, given, preset?.baseUrl].find((url) => url !== undefined && url !== "");
}

/** A model found on a local server. */
export interface FoundModel {
  /** The model's name; only the server's while it loads a model without saying which. */
  readonly name: string;
  readonly baseUrl: string;
  readonly isLoading?: true;
}

export interface ModelSearch {
  /** Keeps checking while the server loads its model; only for a server the user chose. Default false. */
  readonly waits?: boolean | undefined;
  /** Considers only this server. */
  readonly baseUrl?: string;
}

/** Address of an API, parsed from a pasted one. */
export interface ApiAddress {
  /** Without a trailing slash or endpoint path. */
  readonly baseUrl: string;
  /** The endpoint itself, if it was given: requests go exactly there. */
  readonly endpoint?: { readonly url: string; readonly wire: WireName };
}

/** Parses an address that may be an endpoint's (`…/v1/chat/completions`) instead of the API's. */
export function apiAddress(given: string): ApiAddress {
  const [path = "", query = ""] = given.trim().split(/(?=\?)/, 2);
  const url = path.replace(/\/+$/, "");
  const found = ENDPOINTS.find(([suffix]) => url.endsWith(suffix));
  if (found === undefined) return { baseUrl: url + query };
  const [suffix, wire] = found;
  return { baseUrl: url.slice(0, -suffix.length) + query, endpoint: { url: url + query, wire } };
}

const ENDPOINTS: readonly (readonly [suffix: string, wire: WireName])[] = [
  ["/chat/completions", "openai_chat"],
  ["/messages", "anthropic"],
  ["/responses", "openai_responses"],
];
