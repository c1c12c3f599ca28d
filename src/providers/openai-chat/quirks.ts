import type { WireTarget } from "../wire.ts";

/** How a vendor deviates from OpenAI's Chat Completions. Overridden by `target.quirks`. */
export interface ChatQuirks {
  /** Role of the system prompt. Every vendor understands `system`. */
  readonly system_role: "system" | "developer";
  readonly max_tokens_field: "max_tokens" | "max_completion_tokens";
  /**
   * How effort is requested: `reasoning_effort: "low"` · `reasoning: { effort }` · `thinking: { type:
   * "enabled" }`, plus `reasoning_effort` if `efforts` has words · `enable_thinking: true` · not at all.
   */
  readonly effort_format: "reasoning_effort" | "reasoning" | "thinking" | "enable_thinking" | "off";
  /** Effort words the vendor knows, separated by commas; others map to the nearest. */
  readonly efforts: string;
  /** How reasoning is sent back: not at all · in its original field · in the named field or in `content`. */
  readonly reasoning_replay:
    | "none"
    | "same"
    | "reasoning_content"
    | "reasoning"
    | "reasoning_details"
    | "content";
  /** While thinking, it refuses calls without reasoning: those of other models get a blank one. */
  readonly require_reasoning: boolean;
  /** Supports `stream_options: { include_usage: true }`. */
  readonly stream_usage: boolean;
  /** `usage.cost` is the cost of the request in US dollars. */
  readonly reports_cost: boolean;
  /**
   * Cache marks (`cache_control`): none · on the system prompt and user content · on tool results too.
   * Default by model: Anthropic's cache nothing without them.
   */
  readonly cache_marks: "none" | "user" | "all";
  readonly prompt_cache_key: boolean;
  /** Parallel calls must be requested explicitly. */
  readonly ask_for_parallel_calls: boolean;
  /** `alphanumeric9`: tool call ids must be nine letters or digits. */
  readonly tool_call_ids: "any" | "alphanumeric9";
  readonly message_names: boolean;
}

/** The quirks of a target: by its provider's name, else its host, else those of a plain compatible server. */
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
  // By host only: the name `openai` is used for any compatible server.
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
  // Most of its models refuse the field; for others, configure `effort_format`.
  ["xai", "x.ai", { max_tokens_field: "max_completion_tokens", effort_format: "off" }],
  ["together togetherai", "together.xyz together.ai", { efforts: "low,medium,high" }],
  ["fireworks", "fireworks.ai", { efforts: "none,low,medium,high", reasoning_replay: "reasoning_content" }],
  ["ollama", "", { efforts: "none,low,medium,high", reasoning_replay: "same" }],
  ["llamacpp llama.cpp vllm", "", { reasoning_replay: "same" }],
];

function thinking(efforts: string): Partial<ChatQuirks> {
  return { effort_format: "thinking", efforts, reasoning_replay: "reasoning_content" };
}
