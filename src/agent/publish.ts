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
  const show = (event: AgentEvent): void => {
    if (onEvent !== undefined) observe(onEvent, event, (error) => push(warning(error)));
    push(event);
  };
  if (onToken === undefined) return show;
  return (event) => {
    if (event.type === "text_delta") observe(onToken, event.text, (error) => show(warning(error)));
    show(event);
  };
}

/** An observer may be asynchronous: nobody waits, and a rejection must not end the process. */
function observe<T>(observer: (value: T) => unknown, value: T, onFailure: (error: unknown) => void): void {
  try {
    const pending = observer(value);
    if (pending instanceof Promise) pending.catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}

function warning(error: unknown): AgentEvent {
  return { type: "warning", message: `An observer threw: ${toNanoAgentError(error).message}` };
}
