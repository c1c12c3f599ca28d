import type { ProviderConfig } from "./config-schema.ts";
import type { Setting } from "./setting.ts";

/** The form of names of environment variables. */
export const VARIABLE_NAME: RegExp = /^[A-Za-z_][A-Za-z0-9_]*$/;

const PRICE = { type: "number", minimum: 0 } as const;
const TOKENS = { type: "number", minimum: 1, integer: true } as const;
const SWITCH = { type: "boolean" } as const;

/**
 * The ways a provider's server may deviate from its wire format, by its definition. Each is read by its own
 * wire alone: the first eleven by Chat Completions, then Anthropic, OpenAI Responses, Google.
 */
const QUIRKS = {
  type: "object",
  fields: {
    system_role: { type: "string", oneOf: ["system", "developer"] },
    max_tokens_field: { type: "string", oneOf: ["max_tokens", "max_completion_tokens"] },
    effort_format: {
      type: "string",
      oneOf: ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "off"],
    },
    efforts: {
      type: "string",
      pattern: /^(?:[a-z]+(?:,[a-z]+)*)?$/,
      form: 'effort words such as "low,medium,high"',
    },
    reasoning_replay: {
      type: "string",
      oneOf: ["none", "same", "reasoning_content", "reasoning", "reasoning_details", "content"],
    },
    require_reasoning: SWITCH,
    omit: {
      type: "string",
      pattern: /^(?:\w+(?:, ?\w+)*)?$/,
      form: 'names of fields such as "parallel_tool_calls,top_p"',
    },
    cache_marks: { type: "string", oneOf: ["none", "user", "all"] },
    reports_cost: SWITCH,
    stream_usage: SWITCH,
    prompt_cache_key: SWITCH,
    ask_for_parallel_calls: SWITCH,
    tool_call_ids: { type: "string", oneOf: ["any", "alphanumeric9"] },
    message_names: SWITCH,
    auth: { type: "string", oneOf: ["bearer", "key"] },
    cache: SWITCH,
    cache_ttl: { type: "string", oneOf: ["5m", "1h"] },
    thinking: { type: "string", oneOf: ["none", "budget", "adaptive"] },
    encrypted_reasoning: SWITCH,
    functionCallIds: SWITCH,
    openApiParameters: SWITCH,
  },
} as const;

/** The settings of a provider in a config file. */
export const PROVIDER: Setting<ProviderConfig> = {
  type: "object",
  help: "A provider the package does not know, or one at another address.",
  fields: {
    wire: {
      type: "string",
      oneOf: ["anthropic", "openai_chat", "openai_responses", "google"],
      default: "`openai_chat`",
      help: "The format its server speaks.",
    },
    baseUrl: {
      type: "string",
      pattern: /^https?:\/\/[^\s/]/,
      form: "an http:// or https:// address",
      help: "Where its server is.",
    },
    apiKeyEnv: {
      type: "string",
      pattern: VARIABLE_NAME,
      form: "the name of an environment variable",
      default: "`NAME_API_KEY`",
      help: "The variable that holds the key.",
    },
    headers: {
      type: "map",
      of: { type: "string", pattern: /^[^\r\n\0]*$/, form: "one line of text" },
      key: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
      help: "Headers of every request.",
    },
    quirks: {
      ...QUIRKS,
      help: "How its server deviates from the format; [the names](providers.md#providers-of-your-own).",
    },
    models: {
      type: "map",
      help: "Its models, by id.",
      of: {
        type: "object",
        fields: {
          contextWindow: { ...TOKENS, help: "Tokens a request and its answer may have." },
          maxOutputTokens: { ...TOKENS, help: "Tokens of the longest answer." },
          price: {
            type: "object",
            help: "USD per million tokens.",
            required: ["input", "output"],
            fields: {
              input: { ...PRICE, help: "Of requests." },
              output: { ...PRICE, help: "Of answers." },
              cacheRead: { ...PRICE, help: "Of what comes from the cache." },
              cacheWrite: { ...PRICE, help: "Of what goes to the cache." },
            },
          },
        },
      },
    },
  },
};
