import type { ModelRequest } from "../model/model.ts";
import { exchange } from "./exchange.ts";
import { exhaustedLimit } from "./limits.ts";
import type { Reasoned } from "./reasoned.ts";
import { type RunContext, record } from "./run-context.ts";

/**
 * A model request beside the conversation. Its answer is no message of it and its deltas are not published; retries are. What it
 * cost is recorded under `purpose` and counts for the budget, which is looked at first. Throws only for the journal.
 */
export async function askAside(run: RunContext, request: ModelRequest, purpose: string): Promise<Reasoned> {
  if (run.signal.aborted) return { type: "aborted" };
  const limit = exhaustedLimit(run);
  if (limit !== undefined) return { type: "exhausted", limit };
  return exchange(run, request, {
    answered: async (account, { message, finish }) => {
      await record(run, {
        type: "model_usage",
        purpose,
        ...account.answered(finish, message),
        durationMs: account.timing().durationMs,
        ...(finish.responseId === undefined ? {} : { responseId: finish.responseId }),
      });
      return { type: "answer", message, finishReason: finish.finishReason };
    },
  });
}
