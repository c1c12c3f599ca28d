import { abortError, orAborted } from "../base/abort.ts";
import { defined } from "../base/defined.ts";
import { type NanoAgentError, recordedError, toNanoAgentError } from "../base/errors.ts";
import type { AssistantMessage } from "../message/message.ts";
import type { CollectedAnswer } from "../model/collect.ts";
import type { BudgetLimit, Grant } from "../model/ledger.ts";
import type { FinishReason, ModelRequest, RetryPart, StreamPart } from "../model/model.ts";
import { redactError } from "../tool/redact-call.ts";
import { exhaustedLimit } from "./limits.ts";
import { answerWatch, LeftAnswer } from "./plugins.ts";
import { RequestAccount, setAside } from "./request-account.ts";
import { type RunContext, record, recorded } from "./run-context.ts";

/** Time a model gets to end by itself when it is aborted, in milliseconds. */
const GRACE_MS = 500;

/**
 * The result of one model request. `cappedBy`: the limit that held the answer to what the budget still paid
 * for · `exhausted`: it was not made, for the budget is used up or does not pay for it.
 */
export type RequestOutcome =
  | {
      readonly type: "answer";
      readonly message: AssistantMessage;
      readonly finishReason: FinishReason;
      readonly cappedBy?: BudgetLimit;
    }
  | { readonly type: "aborted" }
  | { readonly type: "exhausted"; readonly limit: BudgetLimit }
  | { readonly type: "failed"; readonly error: NanoAgentError };

/** The receiver of an answer. */
export interface AnswerReceiver {
  /** Gets each part as it is to be shown. */
  readonly show?: (part: StreamPart) => void;
  /** Records the whole answer, with what it cost. */
  readonly answered: (account: RequestAccount, answer: CollectedAnswer) => Promise<RequestOutcome>;
  /** Records an answer that was cut. Default: what it may have cost. */
  readonly cut?: (account: RequestAccount, why: "aborted" | LeftAnswer) => Promise<void>;
}

/**
 * One model request, with what is set aside for it. It waits for requests that share its budget. The error of
 * an answer that a plugin left is a {@link LeftAnswer}. Throws only for the journal.
 */
export async function exchange(
  run: RunContext,
  request: ModelRequest,
  receiver: AnswerReceiver,
): Promise<RequestOutcome> {
  await recorded(run);
  let grant: Grant | BudgetLimit;
  try {
    grant = await setAside(run, request);
  } catch (error) {
    return failed(run, error);
  }
  if (typeof grant === "string") return { type: "exhausted", limit: grant };
  const account = new RequestAccount(run, grant);
  const { cut = (open, why) => open.void(why === "aborted" ? why : "failed") } = receiver;
  try {
    await orAborted(receive(run, account, receiver), run.signal, GRACE_MS);
    return await receiver.answered(account, account.collector.result());
  } catch (error) {
    if (error instanceof LeftAnswer) {
      await cut(account, error);
      return { type: "failed", error };
    }
    const failure = failed(run, error);
    await (failure.type === "aborted" ? cut(account, "aborted") : account.void("failed"));
    return failure;
  } finally {
    grant.release();
  }
}

/** The result of a request that threw. Throws on for the journal. */
export function failed(
  run: RunContext,
  error: unknown,
): Extract<RequestOutcome, { readonly type: "aborted" | "failed" }> {
  const failure = redactError(run.redact, toNanoAgentError(error, "internal"));
  if (failure.code === "journal") throw failure;
  return run.signal.aborted ? { type: "aborted" } : { type: "failed", error: failure };
}

/** Takes the answer part by part. A model that does not hear of an abort is left alone. */
async function receive(run: RunContext, account: RequestAccount, { show }: AnswerReceiver): Promise<void> {
  const { model, signal } = run;
  let watch = answerWatch(run);
  for await (const part of model.stream(account.grant.request, { signal })) {
    // Nobody may be waiting any more.
    if (signal.aborted) throw abortError(signal);
    if (part.type === "retry") {
      await recordRetry(run, account, part);
      watch = answerWatch(run);
    } else {
      const taken = account.take(part);
      show?.(taken);
      watch(part);
    }
    if (signal.aborted) throw abortError(signal);
  }
}

/** A retry is kept with its reason and its wait, and what the failed attempt had used up is charged. */
async function recordRetry(run: RunContext, account: RequestAccount, part: RetryPart): Promise<void> {
  await account.void("retry");
  account.take(part);
  const { type, attempt, delayMs, error } = part;
  await record(run, { type, attempt, delayMs, error: recordedError(redactError(run.redact, error)) });
}

/**
 * A model request beside the conversation. Its answer is no message of it and its deltas are not published;
 * retries are. What it cost is recorded under `purpose` and counts for the budget, which is looked at first.
 * Throws only for the journal.
 */
export async function askAside(
  run: RunContext,
  request: ModelRequest,
  purpose: string,
): Promise<RequestOutcome> {
  return (
    stopped(run) ??
    exchange(run, request, {
      answered: async (account, { message, finish }) => {
        await record(run, {
          type: "model_usage",
          purpose,
          ...account.answered(finish, message),
          durationMs: account.timing().durationMs,
          ...defined({ responseId: finish.responseId }),
        });
        return { type: "answer", message, finishReason: finish.finishReason };
      },
    })
  );
}

/** Why no request can be made any more, if there is a reason. */
export function stopped(run: RunContext): RequestOutcome | undefined {
  if (run.signal.aborted) return { type: "aborted" };
  const limit = exhaustedLimit(run);
  return limit === undefined ? undefined : { type: "exhausted", limit };
}
