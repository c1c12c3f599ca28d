import { NETWORK_NUMBERS } from "../../providers/network.ts";
import type { NetworkConfig } from "../../providers/network-options.ts";
import type { ProviderConfig } from "./config-schema.ts";
import type { Setting } from "./setting.ts";

export const VARIABLE_NAME = "^[A-Za-z_][A-Za-z0-9_]*$";

const CLOSED = { type: "object", additionalProperties: false } as const;
const PRICE = { type: "number", minimum: 0 } as const;
const TOKENS = { type: "integer", minimum: 1 } as const;
const SWITCH = { type: "boolean" } as const;

/** Deviations from a wire format: eleven of Chat Completions, then Anthropic, Responses, Google. */
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
  },
} as const;

export const PROVIDER: Setting<ProviderConfig> = {
  ...CLOSED,
  help: "A provider the package does not know, or one at another address.",
  properties: {
    wire: {
      enum: ["anthropic", "openai_chat", "openai_responses", "google"],
      default: "`openai_chat`",
      help: "The API format of its server.",
    },
    baseUrl: {
      type: "string",
      pattern: String.raw`^https?:\/\/[^\s/]`,
      "x-say": "an http:// or https:// address",
      help: "The base URL of its server.",
    },
    apiKeyEnv: {
      type: "string",
      pattern: VARIABLE_NAME,
      "x-say": "the name of an environment variable",
      default: "`NAME_API_KEY`",
      help: "Variable that holds the key.",
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
      help: "How its server deviates from the format; [names](providers.md#providers-of-your-own).",
    },
    models: {
      type: "object",
      help: "Its models, by id.",
      additionalProperties: {
        ...CLOSED,
        properties: {
          contextWindow: { ...TOKENS, help: "Tokens of a request and its answer together." },
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

export const NETWORK: Setting<NetworkConfig> = {
  ...CLOSED,
  help: "Network settings of model requests, in milliseconds; 0 turns a timeout off.",
  properties: {
    headerTimeoutMs: {
      ...NETWORK_NUMBERS.headerTimeoutMs,
      default: "120,000; on this machine that of `firstEventTimeoutMs`",
      help: "Until the response headers arrive, including the connection.",
    },
    idleTimeoutMs: {
      ...NETWORK_NUMBERS.idleTimeoutMs,
      default: "120,000",
      help: "Without any bytes before the first event, then between two events; comments and single bytes are not events.",
    },
    firstEventTimeoutMs: {
      ...NETWORK_NUMBERS.firstEventTimeoutMs,
      default: "600,000; on this machine 1,800,000",
      help: "From the response headers to the first event, while comments or bytes arrive.",
    },
    requestTimeoutMs: {
      ...NETWORK_NUMBERS.requestTimeoutMs,
      default: "1,800,000",
      help: "One whole attempt.",
    },
    maxRetries: {
      ...NETWORK_NUMBERS.maxRetries,
      default: "5",
      help: "Attempts after the first.",
    },
    maxRetryAfterMs: {
      ...NETWORK_NUMBERS.maxRetryAfterMs,
      default: "60,000",
      help: "Longest `retry-after` that is waited for; a longer one fails the request.",
    },
    maxAnswerChars: {
      ...NETWORK_NUMBERS.maxAnswerChars,
      default: "16,000,000",
      help: "Characters of text, reasoning, arguments and provider data in one answer; a longer one fails the request.",
    },
    proxy: {
      ...CLOSED,
      default: "`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`",
      help: "Your proxies; the URL may contain user and password.",
      properties: {
        http: { type: "string", help: "For `http:` addresses." },
        https: { type: "string", help: "For `https:` addresses." },
        noProxy: { type: "string", help: "Hosts without a proxy, separated by commas." },
      },
    },
  },
};
