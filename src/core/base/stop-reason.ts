/**
 * Why a run ended. Always set. `completed`: the model answered without asking for a tool · `finish_tool`: a
 * finish tool was called · `structured_output`: the value for the requested schema is there ·
 * `max_iterations` · `budget`: money, tokens or time used up · `aborted`: by signal, `stop()` or a reader
 * that left · `denied`: a refused call ended the run · `awaiting_approval`, `awaiting_external`: the caller's
 * turn · `output_limit`: the answer was cut by the output limit · `refusal`: the model or a filter refused ·
 * `loop_detected` · `error`: see `result.error`.
 */
export type StopReason =
  | "completed"
  | "finish_tool"
  | "structured_output"
  | "max_iterations"
  | "budget"
  | "aborted"
  | "denied"
  | "awaiting_approval"
  | "awaiting_external"
  | "output_limit"
  | "refusal"
  | "loop_detected"
  | "error";

/** True if a run ended on its own. */
export function isNormalEnd(reason: StopReason): boolean {
  return reason === "completed" || reason === "finish_tool" || reason === "structured_output";
}

/** True if a run has an answer, even one cut short by its limits. */
export function hasAnswer(reason: StopReason): boolean {
  return isNormalEnd(reason) || reason === "max_iterations" || reason === "output_limit";
}

export function isWaiting(reason: StopReason): boolean {
  return reason === "awaiting_approval" || reason === "awaiting_external";
}
