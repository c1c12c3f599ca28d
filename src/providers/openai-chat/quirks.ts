import type { WireTarget } from "../wire.ts";

/** How one vendor deviates from OpenAI's Chat Completions. Each is a key of `target.quirks`, which wins over what is built in. */
export interface ChatQuirks {
  /** Role of the system prompt. `system` is understood by every vendor. */
  readonly systemRole: "system" | "developer";
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /**
   * How effort is asked for: `reasoning_effort: "low"` · `reasoning: { effort }` · `thinking: { type: "enabled" }`, with
   * `reasoning_effort` beside it where `efforts` has words · `enable_thinking: true` · not at all.
   */
  readonly effortFormat: "reasoning_effort" | "reasoning" | "thinking" | "enable_thinking" | "off";
  /** Effort words the vendor knows, separated by commas; others become the nearest. */
  readonly efforts: string;
  /**
   * How reasoning goes back: not at all · in the field it came in · in the named field · as `reasoning_details` ·
   * as thinking parts of `content`.
   */
  readonly reasoningReplay: "none" | "same" | "reasoning_content" | "reasoning" | "reasoning_details" | "content";
  /** The vendor refuses tool calls without reasoning while it thinks: those of other models get an empty one. */
  readonly requireReasoning: boolean;
  /** `stream_options: { include_usage: true }` is understood. */
  readonly streamUsage: boolean;
  /** `prompt_cache_key` is understood. */
  readonly promptCacheKey: boolean;
  /** Several calls per answer have to be asked for. */
  readonly askForParallelCalls: boolean;
  /** `alphanumeric9`: ids of tool calls must be nine letters or digits. */
  readonly toolCallIds: "any" | "alphanumeric9";
  /** `name` of user messages is understood. */
  readonly messageNames: boolean;
}

/** The quirks of a target: by its provider name, else by its host, else those of a plain compatible server. */
export function quirksOf(target: WireTarget): ChatQuirks {
  const host = hostOf(target.baseUrl);
  const vendor =
    VENDORS.find(({ names }) => names.includes(target.provider)) ??
    VENDORS.find(({ hosts }) => hosts.some((suffix) => host === suffix || host.endsWith(`.${suffix}`)));
  return { ...PLAIN, ...vendor?.quirks, ...(target.quirks as Partial<ChatQuirks> | undefined) };
}

const PLAIN: ChatQuirks = {
  systemRole: "system",
  maxTokensField: "max_tokens",
  effortFormat: "reasoning_effort",
  efforts: "none,minimal,low,medium,high,xhigh",
  reasoningReplay: "none",
  requireReasoning: false,
  streamUsage: true,
  promptCacheKey: false,
  askForParallelCalls: false,
  toolCallIds: "any",
  messageNames: true,
};

interface Vendor {
  readonly names: readonly string[];
  readonly hosts: readonly string[];
  readonly quirks: Partial<ChatQuirks>;
}

/** Each from the vendor's own documentation of its Chat Completions API. */
const VENDORS: readonly Vendor[] = [
  {
    names: ["openai", "openai-chat", "azure"],
    hosts: ["api.openai.com", "openai.azure.com"],
    quirks: { maxTokensField: "max_completion_tokens", promptCacheKey: true },
  },
  {
    names: ["deepseek"],
    hosts: ["deepseek.com"],
    quirks: {
      effortFormat: "thinking",
      efforts: "low,high,max",
      reasoningReplay: "reasoning_content",
      requireReasoning: true,
    },
  },
  {
    names: ["moonshot", "moonshotai", "kimi"],
    hosts: ["moonshot.cn", "moonshot.ai"],
    quirks: {
      effortFormat: "thinking",
      efforts: "",
      reasoningReplay: "reasoning_content",
      requireReasoning: true,
      promptCacheKey: true,
    },
  },
  {
    names: ["zhipu", "zai", "bigmodel", "glm"],
    hosts: ["bigmodel.cn", "z.ai"],
    quirks: { effortFormat: "thinking", efforts: "", reasoningReplay: "reasoning_content" },
  },
  {
    names: ["qwen", "dashscope", "alibaba"],
    hosts: ["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"],
    quirks: { effortFormat: "enable_thinking", askForParallelCalls: true },
  },
  { names: ["siliconflow"], hosts: ["siliconflow.cn", "siliconflow.com"], quirks: { effortFormat: "enable_thinking" } },
  {
    names: ["mistral"],
    hosts: ["mistral.ai"],
    quirks: {
      efforts: "none,high",
      reasoningReplay: "content",
      streamUsage: false,
      toolCallIds: "alphanumeric9",
      messageNames: false,
    },
  },
  {
    names: ["openrouter"],
    hosts: ["openrouter.ai"],
    quirks: { effortFormat: "reasoning", reasoningReplay: "reasoning_details" },
  },
  {
    names: ["groq"],
    hosts: ["groq.com"],
    quirks: { maxTokensField: "max_completion_tokens", efforts: "low,medium,high", reasoningReplay: "reasoning" },
  },
  {
    names: ["cerebras"],
    hosts: ["cerebras.ai"],
    quirks: { maxTokensField: "max_completion_tokens", efforts: "low,medium,high", reasoningReplay: "reasoning" },
  },
  // Most of its models refuse the field; those that know it can be given `effortFormat` in the configuration.
  {
    names: ["xai"],
    hosts: ["x.ai"],
    quirks: { maxTokensField: "max_completion_tokens", effortFormat: "off" },
  },
  { names: ["together", "togetherai"], hosts: ["together.xyz", "together.ai"], quirks: { efforts: "low,medium,high" } },
  {
    names: ["fireworks"],
    hosts: ["fireworks.ai"],
    quirks: { efforts: "none,low,medium,high", reasoningReplay: "reasoning_content" },
  },
  { names: ["ollama"], hosts: [], quirks: { efforts: "none,low,medium,high", reasoningReplay: "same" } },
  { names: ["llamacpp", "llama.cpp", "vllm"], hosts: [], quirks: { reasoningReplay: "same" } },
];

function hostOf(baseUrl: string): string {
  return /^[a-z]+:\/\/(?:[^/@]*@)?([^/:?#]+)/i.exec(baseUrl)?.[1]?.toLowerCase() ?? "";
}
