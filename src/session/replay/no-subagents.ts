import type { RunContext } from "../../core/agent/run-context.ts";
import { NanoAgentError } from "../../core/base/errors.ts";

/** A replay starts no subagents: what they did is in the record, and there is no model they could ask. */
export const noSubagents: RunContext["delegate"] = () =>
  Promise.reject(
    new NanoAgentError("invalid_argument", "A replay starts no subagents; their recorded results are used."),
  );
