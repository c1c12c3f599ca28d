import { toNanoAgentError } from "../base/errors.ts";
import type { CollectedAnswer } from "../model/collect.ts";
import type { ModelRequest } from "../model/model.ts";
import type { BudgetLimit } from "./entry.ts";
import { exhaustedLimit } from "./limits.ts";
import type { Reasoned } from "./reasoned.ts";
import { receiveParts } from "./receive-parts.ts";
import { redactError } from "./redact-call.ts";
import { RequestAccount } from "./request-account.ts";
import { type RunContext, record } from "./run-context.ts";

/**
 * A model request beside the conversation. Its answer is no message of it and its deltas are not published; retries are. What it
 * cost is recorded under `purpose` and counts for the budget, which is looked at first. Throws only for the journal.
 */
export async function askAside(run: RunContext, request: ModelRequest, purpose: string): Promise<Reasoned> {
  if (run.signal.aborted) return { type: "aborted" };
  const limit = exhaustedLimit(run);
  if (limit !== undefined) return { type: "exhausted", limit };
  let account: RequestAccount | BudgetLimit;
  try {
    account = await RequestAccount.open(run, request);
  } catch (error) {
    return run.signal.aborted
      ? { type: "aborted" }
      : { type: "failed", error: toNanoAgentError(error, "internal") };
  }
  if (typeof account === "string") return { type: "exhausted", limit: account };
  try {
    return await askOn(run, account, purpose);
  } finally {
    account.close();
  }
}

async function askOn(run: RunContext, account: RequestAccount, purpose: string): Promise<Reasoned> {
  try {
    const { message, finish } = await collectAside(run, account);
    await record(run, {
      type: "model_usage",
      purpose,
      ...account.answered(finish, message),
      durationMs: account.timing().durationMs,
      ...(finish.responseId === undefined ? {} : { responseId: finish.responseId }),
    });
    return { type: "answer", message, finishReason: finish.finishReason };
  } catch (error) {
    const failure = redactError(run.redact, toNanoAgentError(error, "internal"));
    if (failure.code === "journal") throw failure;
    await account.void(run.signal.aborted ? "aborted" : "failed");
    return run.signal.aborted ? { type: "aborted" } : { type: "failed", error: failure };
  }
}

async function collectAside(run: RunContext, account: RequestAccount): Promise<CollectedAnswer> {
  await receiveParts(run, { account, show: () => undefined });
  return account.collector.result();
}
