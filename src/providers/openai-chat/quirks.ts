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
  const host = hostOf(target.baseUrl);
  const vendor =
    VENDORS.find(({ names }) => names.includes(target.provider)) ??
    VENDORS.find(({ hosts }) => hosts.some((suffix) => host === suffix || host.endsWith(`.${suffix}`)));
  const cache_marks = /claude/i.test(target.modelId) ? "all" : "none";
  return { ...PLAIN, cache_marks, ...vendor?.quirks, ...(target.quirks as Partial<ChatQuirks> | undefined) };
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

interface Vendor {
  readonly names: readonly string[];
  readonly hosts: readonly string[];
  readonly quirks: Partial<ChatQuirks>;
}

/** Each from the vendor's own documentation of its Chat Completions API. */
const VENDORS: readonly Vendor[] = [
  {
    // By host alone: under the name `openai` people reach any compatible server.
    names: [],
    hosts: ["api.openai.com", "openai.azure.com"],
    quirks: { max_tokens_field: "max_completion_tokens", prompt_cache_key: true },
  },
  {
    names: ["deepseek"],
    hosts: ["deepseek.com"],
    quirks: {
      effort_format: "thinking",
      efforts: "low,high,max",
      reasoning_replay: "reasoning_content",
      require_reasoning: true,
    },
  },
  {
    names: ["moonshot", "moonshotai", "kimi"],
    hosts: ["moonshot.cn", "moonshot.ai"],
    quirks: {
      effort_format: "thinking",
      efforts: "",
      reasoning_replay: "reasoning_content",
      require_reasoning: true,
      prompt_cache_key: true,
    },
  },
  {
    names: ["zhipu", "zai", "bigmodel", "glm"],
    hosts: ["bigmodel.cn", "z.ai"],
    quirks: { effort_format: "thinking", efforts: "", reasoning_replay: "reasoning_content" },
  },
  {
    names: ["qwen", "dashscope", "alibaba"],
    hosts: ["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"],
    quirks: { effort_format: "enable_thinking", ask_for_parallel_calls: true },
  },
  {
    names: ["siliconflow"],
    hosts: ["siliconflow.cn", "siliconflow.com"],
    quirks: { effort_format: "enable_thinking" },
  },
  {
    names: ["mistral"],
    hosts: ["mistral.ai"],
    quirks: {
      efforts: "none,high",
      reasoning_replay: "content",
      stream_usage: false,
      tool_call_ids: "alphanumeric9",
      message_names: false,
    },
  },
  {
    names: ["openrouter"],
    hosts: ["openrouter.ai"],
    quirks: { effort_format: "reasoning", reasoning_replay: "reasoning_details", reports_cost: true },
  },
  {
    names: ["groq"],
    hosts: ["groq.com"],
    quirks: {
      max_tokens_field: "max_completion_tokens",
      efforts: "low,medium,high",
      reasoning_replay: "reasoning",
    },
  },
  {
    names: ["cerebras"],
    hosts: ["cerebras.ai"],
    quirks: {
      max_tokens_field: "max_completion_tokens",
      efforts: "low,medium,high",
      reasoning_replay: "reasoning",
    },
  },
  // Most of its models refuse the field; for others there is `effort_format` in the configuration.
  {
    names: ["xai"],
    hosts: ["x.ai"],
    quirks: { max_tokens_field: "max_completion_tokens", effort_format: "off" },
  },
  {
    names: ["together", "togetherai"],
    hosts: ["together.xyz", "together.ai"],
    quirks: { efforts: "low,medium,high" },
  },
  {
    names: ["fireworks"],
    hosts: ["fireworks.ai"],
    quirks: { efforts: "none,low,medium,high", reasoning_replay: "reasoning_content" },
  },
  { names: ["ollama"], hosts: [], quirks: { efforts: "none,low,medium,high", reasoning_replay: "same" } },
  { names: ["llamacpp", "llama.cpp", "vllm"], hosts: [], quirks: { reasoning_replay: "same" } },
];

function hostOf(baseUrl: string): string {
  return /^[a-z]+:\/\/(?:[^/@]*@)?([^/:?#]+)/i.exec(baseUrl)?.[1]?.toLowerCase() ?? "";
}
