import type { AssistantEntry } from "../core/agent/entries.ts";
import type { Usage } from "../core/message/message.ts";
import type { OtelAttributes } from "./open-telemetry-api.ts";

const MAX_CHARS = 20_000;

/** Who was asked for which model, given as `provider/id`. */
export function providerAttributes(model: string): OtelAttributes {
  const provider = model.slice(0, model.indexOf("/"));
  return {
    "gen_ai.provider.name": PROVIDERS.get(provider) ?? provider,
    "gen_ai.request.model": modelId(model),
  };
}

/** Names the conventions have for providers, where they are not ours. */
const PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["google", "gcp.gemini"],
  ["openai-chat", "openai"],
  ["openai-responses", "openai"],
  ["mistral", "mistral_ai"],
  ["xai", "x_ai"],
  ["moonshot", "moonshot_ai"],
]);

/** Tokens, with those of cache and reasoning where they are known. */
export function usageAttributes(usage: Usage): OtelAttributes {
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    ...present("gen_ai.usage.cache_read.input_tokens", usage.cacheReadTokens),
    ...present("gen_ai.usage.cache_creation.input_tokens", usage.cacheWriteTokens),
    ...present("gen_ai.usage.reasoning.output_tokens", usage.reasoningTokens),
  };
}

/** An answer as the conventions write messages. */
export function outputMessage({ message, finishReason }: AssistantEntry): object {
  const parts = message.content.map((block) => {
    if (block.type === "tool_use")
      return { type: "tool_call", id: block.id, name: block.name, arguments: block.input };
    return block.type === "text"
      ? { type: "text", content: block.text }
      : { type: "reasoning", content: block.thinking };
  });
  return { role: "assistant", parts, finish_reason: finishReason.raw };
}

export function modelId(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}

/** An attribute, unless there is no value for it. */
export function present(name: string, value: string | number | undefined): OtelAttributes {
  return value === undefined ? {} : { [name]: value };
}

/** A text cut to the longest one attribute holds. */
export function clip(text: string): string {
  return text.length <= MAX_CHARS ? text : text.slice(0, MAX_CHARS).toWellFormed();
}
