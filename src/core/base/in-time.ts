import { orAborted } from "./abort.ts";
import { type Clock, startTimer } from "./clock.ts";

/** How long {@link inTime} waits. */
export interface TimeBound {
  readonly ms: number;
  readonly clock: Clock;
  /** Ends the wait as well. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The answer of somebody else's function, waited for until the time is up. It gets a signal that is aborted
 * then; rejects then with a sentence that begins with "it took longer than", and with the reason of `signal`
 * where that ends the wait.
 */
export async function inTime<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  { ms, clock, signal }: TimeBound,
): Promise<Awaited<T>> {
  const late = new AbortController();
  const said = ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`;
  const stopTimer = startTimer(clock, ms, () => late.abort(new Error(`it took longer than ${said}`)));
  const either = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
  try {
    return await orAborted((async () => work(either))() as Promise<Awaited<T>>, either);
  } catch (error) {
    throw late.signal.aborted ? late.signal.reason : error;
  } finally {
    stopTimer();
  }
}
