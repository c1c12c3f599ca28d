import { abortError } from "../base/abort.ts";
import type { StreamPart } from "../model/model.ts";

/** Time a model gets to end by itself when it is aborted, in milliseconds. */
const GRACE_MS = 500;

/**
 * The parts of an answer, to be read once. When the signal is aborted and the model does not end by itself, reading rejects all the same, and
 * the model is left alone.
 */
export function abortableParts(
  parts: AsyncIterable<StreamPart>,
  signal: AbortSignal,
): AsyncIterable<StreamPart> {
  const iterator = parts[Symbol.asyncIterator]();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let giveUp: ((error: Error) => void) | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => giveUp?.(abortError(signal)), GRACE_MS);
  };
  const close = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const next = (): Promise<IteratorResult<StreamPart>> =>
    new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        close();
        reject(error);
      };
      giveUp = fail;
      iterator.next().then((step) => {
        if (step.done === true) close();
        resolve(step);
      }, fail);
    });
  const leave = async (): Promise<IteratorResult<StreamPart>> => {
    close();
    const left = iterator.return?.();
    // One that does not listen would be waited for without end.
    if (signal.aborted) left?.catch(() => undefined);
    else await left;
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
}
