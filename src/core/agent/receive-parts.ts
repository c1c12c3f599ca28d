import { abortError, orAborted } from "../base/abort.ts";
import type { StreamPart } from "../model/model.ts";
import { RepeatedText } from "./repeated-text.ts";
import type { RequestAccount } from "./request-account.ts";
import type { RunContext } from "./run-context.ts";

/** Time a model gets to end by itself when it is aborted, in milliseconds. */
const GRACE_MS = 500;

/** Where the parts of an answer go. */
export interface Receiver {
  readonly account: RequestAccount;
  /** Gets each part as it is to be shown. */
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
      await account.void("retry");
      if (repeated !== undefined) repeated = new RepeatedText();
    }
    show(account.take(part));
    repeated?.take(part);
    if (signal.aborted) throw abortError(signal);
  }
}
