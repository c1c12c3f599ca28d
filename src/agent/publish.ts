import type { AgentEvent } from "../core/agent/event.ts";
import { toNanoAgentError } from "../core/base/errors.ts";
import type { RunOptions } from "./options.ts";

/**
 * Lets the observers of a run see each event before its reader. What one of them throws stops nothing and
 * keeps nothing from the others: it is told as a warning, to `onEvent` too where that is not what threw.
 */
export function publisher(
  { onEvent, onToken }: Pick<RunOptions, "onEvent" | "onToken">,
  push: (event: AgentEvent) => void,
): (event: AgentEvent) => void {
  if (onEvent === undefined && onToken === undefined) return push;
  const warn = (error: unknown): AgentEvent => ({
    type: "warning",
    message: `An observer threw: ${toNanoAgentError(error).message}`,
  });
  const observe = (event: AgentEvent): void => {
    try {
      onEvent?.(event);
    } catch (error) {
      push(warn(error));
    }
    push(event);
  };
  return (event) => {
    try {
      if (onToken !== undefined && event.type === "text_delta") onToken(event.text);
    } catch (error) {
      observe(warn(error));
    }
    observe(event);
  };
}
