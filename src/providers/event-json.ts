import { NanoAgentError } from "../core/base/errors.ts";

/** The value of one event's data. Throws `invalid_response` (retryable: streams get garbled on their way) for broken JSON. */
export function parseEventData(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    const shown = data.length > 200 ? `${data.slice(0, 200)}…` : data;
    throw new NanoAgentError("invalid_response", `The provider sent an event that is no JSON: ${shown}`, {
      cause,
      retryable: true,
    });
  }
}
