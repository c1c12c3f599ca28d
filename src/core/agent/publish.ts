import { toNanoAgentError } from "../base/errors.ts";
import type { AgentEvent } from "./event.ts";
import type { RunOptions } from "./options.ts";

/** Lets the observers of a run see each event before its reader; what they throw is told to the reader and stops nothing. */
export function publisher(
  { onEvent, onToken }: Pick<RunOptions, "onEvent" | "onToken">,
  push: (event: AgentEvent) => void,
): (event: AgentEvent) => void {
  if (onEvent === undefined && onToken === undefined) return push;
  return (event) => {
    try {
      if (onToken !== undefined && event.type === "text_delta") onToken(event.text);
      onEvent?.(event);
    } catch (error) {
      push({ type: "warning", message: `An observer threw: ${toNanoAgentError(error).message}` });
    }
    push(event);
  };
}
