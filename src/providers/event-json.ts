import { NanoAgentError } from "../core/base/errors.ts";
import { isRecord } from "../core/base/json.ts";

/** The value of one event's data. Throws `invalid_response` (retryable: streams get garbled on their way) for broken JSON. */
export function parseEventData(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    const shown = data.length > 200 ? `${data.slice(0, 200)}…` : data;
    throw new NanoAgentError("invalid_response", `The provider sent an event that is not JSON: ${shown}`, {
      cause,
      retryable: true,
    });
  }
}

/** {@link parseEventData} for wires whose events are objects; anything else throws `invalid_response` too. */
export function parseEventObject(data: string): { readonly [key: string]: unknown } {
  const value = parseEventData(data);
  if (isRecord(value)) return value;
  throw new NanoAgentError(
    "invalid_response",
    `The provider sent an event that is not an object: ${data.slice(0, 200)}`,
    {
      retryable: true,
    },
  );
}
