import type { ProviderConfig } from "./config-schema.ts";
import type { Setting } from "./setting.ts";

/** The form of names of environment variables. */
export const VARIABLE_NAME = "^[A-Za-z_][A-Za-z0-9_]*$";

const CLOSED = { type: "object", additionalProperties: false } as const;
const PRICE = { type: "number", minimum: 0 } as const;
const TOKENS = { type: "integer", minimum: 1 } as const;
const SWITCH = { type: "boolean" } as const;

/**
 * The ways a provider's server may deviate from its wire format, by its definition. Each is read by its own
 * wire alone: the first eleven by Chat Completions, then Anthropic, OpenAI Responses, Google.
 */
const QUIRKS = {
  ...CLOSED,
  properties: {
    system_role: { enum: ["system", "developer"] },
    max_tokens_field: { enum: ["max_tokens", "max_completion_tokens"] },
    effort_format: {
      enum: ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "off"],
    },
    efforts: {
      type: "string",
      pattern: String.raw`^(?:[a-z]+(?:,[a-z]+)*)?$`,
      "x-say": 'effort words such as "low,medium,high"',
    },
    reasoning_replay: {
      enum: ["none", "same", "reasoning_content", "reasoning", "reasoning_details", "content"],
    },
    require_reasoning: SWITCH,
    omit: {
      type: "string",
      pattern: String.raw`^(?:\w+(?:, ?\w+)*)?$`,
      "x-say": 'names of fields such as "parallel_tool_calls,top_p"',
    },
    cache_marks: { enum: ["none", "user", "all"] },
    reports_cost: SWITCH,
    stream_usage: SWITCH,
    prompt_cache_key: SWITCH,
    ask_for_parallel_calls: SWITCH,
    tool_call_ids: { enum: ["any", "alphanumeric9"] },
    message_names: SWITCH,
    auth: { enum: ["bearer", "key"] },
    cache: SWITCH,
    cache_ttl: { enum: ["5m", "1h"] },
    thinking: { enum: ["none", "budget", "adaptive"] },
    encrypted_reasoning: SWITCH,
    functionCallIds: SWITCH,
    openApiParameters: SWITCH,
  },
} as const;

/** The settings of a provider in a config file. */
export const PROVIDER: Setting<ProviderConfig> = {
  ...CLOSED,
  help: "A provider the package does not know, or one at another address.",
  properties: {
    wire: {
      enum: ["anthropic", "openai_chat", "openai_responses", "google"],
      default: "`openai_chat`",
      help: "The format its server speaks.",
    },
    baseUrl: {
      type: "string",
      pattern: String.raw`^https?:\/\/[^\s/]`,
      "x-say": "an http:// or https:// address",
      help: "Where its server is.",
    },
    apiKeyEnv: {
      type: "string",
      pattern: VARIABLE_NAME,
      "x-say": "the name of an environment variable",
      default: "`NAME_API_KEY`",
      help: "The variable that holds the key.",
    },
    headers: {
      type: "object",
      additionalProperties: {
        type: "string",
        pattern: String.raw`^[^\r\n\0]*$`,
        "x-say": "one line of text",
      },
      propertyNames: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", "x-say": "the name of a header" },
      help: "Headers of every request.",
    },
    quirks: {
      ...QUIRKS,
      help: "How its server deviates from the format; [the names](providers.md#providers-of-your-own).",
    },
    models: {
      type: "object",
      help: "Its models, by id.",
      additionalProperties: {
        ...CLOSED,
        properties: {
          contextWindow: { ...TOKENS, help: "Tokens a request and its answer may have." },
          maxOutputTokens: { ...TOKENS, help: "Tokens of the longest answer." },
          price: {
            ...CLOSED,
            help: "USD per million tokens.",
            required: ["input", "output"],
            properties: {
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
