import { abortError, orAborted } from "../base/abort.ts";
import { recordedError, toNanoAgentError } from "../base/errors.ts";
import type { CollectedAnswer } from "../model/collect.ts";
import type { ModelRequest, RetryPart, StreamPart } from "../model/model.ts";
import type { BudgetLimit } from "./entry.ts";
import type { Reasoned } from "./reasoned.ts";
import { redactError } from "./redact-call.ts";
import { EndlessRepetition, RepeatedText } from "./repeated-text.ts";
import { RequestAccount } from "./request-account.ts";
import { type RunContext, record } from "./run-context.ts";

/** Time a model gets to end by itself when it is aborted, in milliseconds. */
const GRACE_MS = 500;

/** What becomes of an answer. */
export interface AnswerReceiver {
  /** Gets each part as it is to be shown. */
  readonly show?: (part: StreamPart) => void;
  /** Records the whole answer, with what it cost. */
  readonly answered: (account: RequestAccount, answer: CollectedAnswer) => Promise<Reasoned>;
  /** Records an answer that was cut. Default: what it may have cost. */
  readonly cut?: (account: RequestAccount, why: "aborted" | EndlessRepetition) => Promise<void>;
}

/**
 * One model request, with what is set aside for it. It waits for requests that share its budget. An answer that repeats itself without
 * end is left, unless loops are not looked for: then the error is an {@link EndlessRepetition}. Throws only for the journal.
 */
export async function exchange(
  run: RunContext,
  request: ModelRequest,
  receiver: AnswerReceiver,
): Promise<Reasoned> {
  let account: RequestAccount | BudgetLimit;
  try {
    account = await RequestAccount.open(run, request);
  } catch (error) {
    return failed(run, error);
  }
  if (typeof account === "string") return { type: "exhausted", limit: account };
  const { cut = (open, why) => open.void(why === "aborted" ? why : "failed") } = receiver;
  try {
    await orAborted(receive(run, account, receiver), run.signal, GRACE_MS);
    return await receiver.answered(account, account.collector.result());
  } catch (error) {
    if (error instanceof EndlessRepetition) {
      await cut(account, error);
      return { type: "failed", error };
    }
    const failure = failed(run, error);
    await (failure.type === "aborted" ? cut(account, "aborted") : account.void("failed"));
    return failure;
  } finally {
    account.close();
  }
}

/** What a request came to that threw. Throws on for the journal. */
export function failed(
  run: RunContext,
  error: unknown,
): Extract<Reasoned, { readonly type: "aborted" | "failed" }> {
  const failure = redactError(run.redact, toNanoAgentError(error, "internal"));
  if (failure.code === "journal") throw failure;
  return run.signal.aborted ? { type: "aborted" } : { type: "failed", error: failure };
}

/** Takes the answer part by part. A model that does not hear of an abort is left alone. */
async function receive(run: RunContext, account: RequestAccount, { show }: AnswerReceiver): Promise<void> {
  const { model, signal, loopGuard } = run;
  let repeated = loopGuard === undefined ? undefined : new RepeatedText();
  for await (const part of model.stream(account.request, { signal })) {
    // Nobody may be waiting any more.
    if (signal.aborted) throw abortError(signal);
    if (part.type === "retry") {
      await recordRetry(run, account, part);
      if (repeated !== undefined) repeated = new RepeatedText();
    } else {
      const taken = account.take(part);
      show?.(taken);
      repeated?.take(part);
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
