import { NanoAgentError } from "../../core/base/errors.ts";

/** The error for a command line that cannot work; the program ends with code 2. */
export function usageError(message: string, cause?: unknown): NanoAgentError {
  return new NanoAgentError("invalid_argument", message, cause === undefined ? {} : { cause });
}
