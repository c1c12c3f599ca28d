import { NanoAgentError } from "../../core/base/errors.ts";
import { systemReason } from "../session-error.ts";

/** An error of code `checkpoint` about a place of the store or the workspace that the system refused. */
export function checkpointError(what: string, cause: unknown): NanoAgentError {
  return new NanoAgentError("checkpoint", `${what}: ${systemReason(cause)}.`, { cause });
}
