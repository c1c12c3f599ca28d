import { backoffDelayMs, type Clock, systemClock } from "../core/base/async.ts";
import { errorMessage, isNanoAgentError, NanoAgentError } from "../core/base/errors.ts";

/** How long one who waits for the database goes on trying. */
export interface Patience {
  /** Milliseconds after which the last failure is thrown. */
  readonly maxMs: number;
  readonly onWarning: (message: string) => void;
  readonly clock?: Clock;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Does something with the database again until it succeeds: a server that restarts, a connection that broke.
 * `work` may have been done when it fails, and must do no harm when it is done twice. Rejects with `journal`
 * for what is no matter of the connection, and when the time is over.
 */
export async function patiently<T>(work: () => Promise<T>, patience: Patience): Promise<T> {
  const { maxMs, onWarning, clock = systemClock, signal } = patience;
  const begun = clock.elapsed();
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (isNanoAgentError(error)) throw error;
      const isOver = !mayPass(error) || clock.elapsed() - begun >= maxMs || signal?.aborted === true;
      if (isOver) throw databaseError(error);
      if (attempt === 1) onWarning(`The database does not answer, trying again: ${errorMessage(error)}`);
      await clock
        .sleep(backoffDelayMs(attempt, { baseMs: 100, maxMs: 2_000 }), signal)
        .catch(() => undefined);
    }
  }
}

/** The error of a database, as callers see it. */
function databaseError(error: unknown): NanoAgentError {
  return new NanoAgentError("journal", `The database of durable runs failed: ${errorMessage(error)}`, {
    cause: error,
    retryable: mayPass(error),
  });
}

/**
 * SQLSTATE that say: not now. Classes: 08 connection · 40 rolled back · 53 resources · 57 intervention.
 * 25P03: nothing was heard of a transaction.
 */
const PASSING = /^(?:08|40|53|57|58|25P03)/;
/** SQLSTATE has five characters; codes of the system have names. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

function mayPass(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  // Without a code it is the client, which has no connection or lost it.
  return SQLSTATE.test(code) && !code.startsWith("E") ? PASSING.test(code) : true;
}
