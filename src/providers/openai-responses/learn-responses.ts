import type { NanoAgentError } from "../../core/base/errors.ts";
import { omitting, refusalWords, refusedField } from "../refused-field.ts";
import type { ShownQuirks } from "../shown-quirks.ts";
import type { WireTarget } from "../wire.ts";

/** The quirks that a refused request has shown; `undefined` when the refusal is about something else. */
export function learnResponsesQuirks(error: NanoAgentError, target: WireTarget): ShownQuirks | undefined {
  const words = refusalWords(error);
  const field = words === undefined ? undefined : refusedField(words, FIELDS);
  if (field === undefined) return undefined;
  return field === "include" || field === "encrypted_content"
    ? { encrypted_reasoning: false }
    : omitting(field, target);
}

/** Fields that a request may have and that servers with the same format may not know. */
const FIELDS: readonly string[] = [
  "encrypted_content",
  "include",
  "prompt_cache_key",
  "parallel_tool_calls",
  "max_output_tokens",
  "tool_choice",
  "top_p",
  "reasoning",
  "temperature",
  "store",
];
