import type { Shape } from "./shape.ts";

const FLAG: Shape = { type: "boolean" };

/**
 * What a provider definition may say about how its server deviates from its wire format. Each is read by the wire it is meant for alone:
 * the first eleven by Chat Completions, then Anthropic, OpenAI Responses, Google.
 */
export const QUIRKS_SHAPE: Shape = {
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
    require_reasoning: FLAG,
    stream_usage: FLAG,
    prompt_cache_key: FLAG,
    ask_for_parallel_calls: FLAG,
    tool_call_ids: { type: "string", oneOf: ["any", "alphanumeric9"] },
    message_names: FLAG,
    auth: { type: "string", oneOf: ["bearer", "key"] },
    cache: FLAG,
    cache_ttl: { type: "string", oneOf: ["5m", "1h"] },
    thinking: { type: "string", oneOf: ["none", "budget", "adaptive"] },
    encrypted_reasoning: FLAG,
    functionCallIds: FLAG,
    openApiParameters: FLAG,
  },
};
