import type { WireTarget } from "../wire.ts";

/** How a vendor deviates from OpenAI's Chat Completions. Keys of `target.quirks`, which wins. */
export interface ChatQuirks {
  /** Role of the system prompt. `system` is understood by every vendor. */
  readonly system_role: "system" | "developer";
  readonly max_tokens_field: "max_tokens" | "max_completion_tokens";
  /**
   * How effort is asked for: `reasoning_effort: "low"` · `reasoning: { effort }` ·
   * `thinking: { type: "enabled" }`, with `reasoning_effort` beside it where `efforts` has words ·
   * `enable_thinking: true` · not at all.
   */
  readonly effort_format: "reasoning_effort" | "reasoning" | "thinking" | "enable_thinking" | "off";
  /** Effort words the vendor knows, separated by commas; others become the nearest. */
  readonly efforts: string;
  /** How reasoning goes back: not at all · in its own field · in the named field or parts of `content`. */
  readonly reasoning_replay:
    | "none"
    | "same"
    | "reasoning_content"
    | "reasoning"
    | "reasoning_details"
    | "content";
  /** While it thinks, calls without reasoning are refused: those of other models get an empty one. */
  readonly require_reasoning: boolean;
  /** `stream_options: { include_usage: true }` is understood. */
  readonly stream_usage: boolean;
  /** `usage.cost` is what the request cost, in US dollars. */
  readonly reports_cost: boolean;
  /**
   * Marks of what is to be cached (`cache_control`): none · in the system prompt and what the user says · in
   * results of tools too. Default by model: those of Anthropic cache nothing without them.
   */
  readonly cache_marks: "none" | "user" | "all";
  /** `prompt_cache_key` is understood. */
  readonly prompt_cache_key: boolean;
  /** Several calls per answer have to be asked for. */
  readonly ask_for_parallel_calls: boolean;
  /** `alphanumeric9`: ids of tool calls must be nine letters or digits. */
  readonly tool_call_ids: "any" | "alphanumeric9";
  /** `name` of user messages is understood. */
  readonly message_names: boolean;
}

/** The quirks of a target: by its provider's name, else its host, else of a plain compatible server. */
export function quirksOf(target: WireTarget): ChatQuirks {
  const host = URL.parse(target.baseUrl)?.hostname ?? "";
  const isAt = (suffix: string): boolean => host === suffix || host.endsWith(`.${suffix}`);
  const [, , vendor] =
    VENDORS.find(([names]) => names.split(" ").includes(target.provider)) ??
    VENDORS.find(([, hosts]) => hosts !== "" && hosts.split(" ").some(isAt)) ??
    [];
  const cache_marks = /claude/i.test(target.modelId) ? "all" : "none";
  return { ...PLAIN, cache_marks, ...vendor, ...(target.quirks as Partial<ChatQuirks> | undefined) };
}

const PLAIN: Omit<ChatQuirks, "cache_marks"> = {
  system_role: "system",
  max_tokens_field: "max_tokens",
  effort_format: "reasoning_effort",
  efforts: "none,minimal,low,medium,high,xhigh",
  reasoning_replay: "none",
  require_reasoning: false,
  stream_usage: true,
  reports_cost: false,
  prompt_cache_key: false,
  ask_for_parallel_calls: false,
  tool_call_ids: "any",
  message_names: true,
};

const REASONING: Partial<ChatQuirks> = {
  max_tokens_field: "max_completion_tokens",
  efforts: "low,medium,high",
  reasoning_replay: "reasoning",
};

/** Names, hosts and quirks, each from the vendor's own documentation of its Chat Completions API. */
const VENDORS: readonly (readonly [names: string, hosts: string, quirks: Partial<ChatQuirks>])[] = [
  // By host alone: under the name `openai` people reach any compatible server.
  [
    "",
    "api.openai.com openai.azure.com",
    { max_tokens_field: "max_completion_tokens", prompt_cache_key: true },
  ],
  ["deepseek", "deepseek.com", { ...thinking("low,high,max"), require_reasoning: true }],
  [
    "moonshot moonshotai kimi",
    "moonshot.cn moonshot.ai",
    { ...thinking(""), require_reasoning: true, prompt_cache_key: true },
  ],
  ["zhipu zai bigmodel glm", "bigmodel.cn z.ai", thinking("")],
  [
    "qwen dashscope alibaba",
    "dashscope.aliyuncs.com dashscope-intl.aliyuncs.com dashscope-us.aliyuncs.com",
    { effort_format: "enable_thinking", ask_for_parallel_calls: true },
  ],
  ["siliconflow", "siliconflow.cn siliconflow.com", { effort_format: "enable_thinking" }],
  [
    "mistral",
    "mistral.ai",
    {
      efforts: "none,high",
      reasoning_replay: "content",
      stream_usage: false,
      tool_call_ids: "alphanumeric9",
      message_names: false,
    },
  ],
  [
    "openrouter",
    "openrouter.ai",
    { effort_format: "reasoning", reasoning_replay: "reasoning_details", reports_cost: true },
  ],
  ["groq", "groq.com", REASONING],
  ["cerebras", "cerebras.ai", REASONING],
  // Most of its models refuse the field; for others there is `effort_format` in the configuration.
  ["xai", "x.ai", { max_tokens_field: "max_completion_tokens", effort_format: "off" }],
  ["together togetherai", "together.xyz together.ai", { efforts: "low,medium,high" }],
  ["fireworks", "fireworks.ai", { efforts: "none,low,medium,high", reasoning_replay: "reasoning_content" }],
  ["ollama", "", { efforts: "none,low,medium,high", reasoning_replay: "same" }],
  ["llamacpp llama.cpp vllm", "", { reasoning_replay: "same" }],
];

function thinking(efforts: string): Partial<ChatQuirks> {
  return { effort_format: "thinking", efforts, reasoning_replay: "reasoning_content" };
}
