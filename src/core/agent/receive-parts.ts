import { abortError, orAborted } from "../base/abort.ts";
import type { RetryPart, StreamPart } from "../model/model.ts";
import { recordedError } from "./entry.ts";
import { redactError } from "./redact-call.ts";
import { RepeatedText } from "./repeated-text.ts";
import type { RequestAccount } from "./request-account.ts";
import { type RunContext, record } from "./run-context.ts";

/** Time a model gets to end by itself when it is aborted, in milliseconds. */
const GRACE_MS = 500;

/** Where the parts of an answer go. */
export interface Receiver {
  readonly account: RequestAccount;
  /** Gets each part of the answer as it is to be shown. */
  readonly show: (part: StreamPart) => void;
}

/**
 * Asks the model and hands on what it answers, part by part. Rejects with what the model throws, for the journal, and when the run is
 * aborted, also where the model does not hear of that: it is left alone then. An answer that repeats itself without end is left with
 * `EndlessRepetition`, unless loops are not looked for.
 */
export function receiveParts(run: RunContext, receiver: Receiver): Promise<void> {
  return orAborted(receive(run, receiver), run.signal, GRACE_MS);
}

async function receive(run: RunContext, { account, show }: Receiver): Promise<void> {
  const { model, signal, loopGuard } = run;
  let repeated = loopGuard === undefined ? undefined : new RepeatedText();
  for await (const part of model.stream(account.request, { signal })) {
    // Nobody may be waiting any more.
    if (signal.aborted) throw abortError(signal);
    if (part.type === "retry") {
      await recordRetry(run, account, part);
      if (repeated !== undefined) repeated = new RepeatedText();
    } else {
      show(account.take(part));
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
