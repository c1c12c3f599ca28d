import { NanoAgentError } from "./errors.ts";

/** A controller that is aborted with its parent. `unlink` must be called when it is no longer needed. */
export interface LinkedController {
  readonly controller: AbortController;
  readonly unlink: () => void;
}

/** Makes a controller that follows `parent`, reason included. Cheaper than `AbortSignal.any`, and leaves no listener behind. */
export function linkController(parent: AbortSignal | undefined): LinkedController {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent?.reason);
  if (parent?.aborted === true) follow();
  else parent?.addEventListener("abort", follow, { once: true });
  return { controller, unlink: () => parent?.removeEventListener("abort", follow) };
}

/** The error an aborted signal stands for: its reason when that is an error of ours, else one with code `aborted`. */
export function abortError(
  { reason }: Pick<AbortSignal, "reason">,
  what = "The run was aborted.",
): NanoAgentError {
  if (reason instanceof NanoAgentError) return reason;
  return new NanoAgentError("aborted", what, { cause: reason });
}

/**
 * Settles as `promise` does, or rejects with {@link abortError} `graceMs` milliseconds after the signal is aborted, whichever
 * comes first. The grace lets work that honours the signal end by itself and say how it ended.
 */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal, graceMs = 0): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onAbort = (): void => {
      timer = setTimeout(() => reject(abortError(signal)), graceMs);
    };
    const settle = (): void => {
      signal.removeEventListener("abort", onAbort);
      clearTimeout(timer);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    promise.then(
      (value) => {
        settle();
        resolve(value);
      },
      (error: unknown) => {
        settle();
        reject(error);
      },
    );
  });
}
