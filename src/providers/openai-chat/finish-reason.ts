import type { FinishReason } from "../../core/model/model.ts";

/** Facts known about an answer beside the provider's word. */
export interface FinishFacts {
  readonly hasCalls: boolean;
  /** Text came in the field for refusals. */
  readonly refused: boolean;
}

/** The finish reason for a vendor's word; calls win over `stop`, and no word counts as `stop`. */
export function finishReason(raw: string, facts: FinishFacts): FinishReason {
  const unified = WORDS.get(raw.toLowerCase()) ?? "other";
  if (facts.refused && unified === "stop") return { unified: "refusal", raw };
  if (facts.hasCalls && (unified === "stop" || unified === "other")) return { unified: "tool_use", raw };
  return { unified: unified === "tool_use" && !facts.hasCalls ? "stop" : unified, raw };
}

const WORDS: ReadonlyMap<string, FinishReason["unified"]> = new Map([
  ...words("stop", [
    "",
    "stop",
    "end_turn",
    "eos",
    "eos_token",
    "end",
    "stop_sequence",
    "complete",
    "completed",
  ]),
  ...words("tool_use", ["tool_calls", "tool_call", "function_call", "tool_use"]),
  ...words("length", [
    "length",
    "max_tokens",
    "max_output_tokens",
    "model_length",
    "model_context_window_exceeded",
  ]),
  ...words("refusal", ["content_filter", "sensitive", "refusal", "safety", "recitation", "blocked"]),
  ...words("error", ["insufficient_system_resource", "network_error", "error", "abort"]),
]);

function words(
  unified: FinishReason["unified"],
  raws: readonly string[],
): readonly (readonly [string, FinishReason["unified"]])[] {
  return raws.map((raw) => [raw, unified] as const);
}
