import { NanoAgentError } from "../base/errors.ts";
import type { LoopGuardOptions, LoopGuardSettings } from "./loop-guard.ts";

/** The settings of a loop guard with the defaults filled in; undefined where there is to be none. */
export function loopGuardSettings(options: LoopGuardOptions | false = {}): LoopGuardSettings | undefined {
  if (options === false) return undefined;
  const { warnAt, stopAt, window } = options;
  return { warnAt: warnAt ?? Math.min(3, (stopAt ?? 5) - 1), stopAt: stopAt ?? 5, window: window ?? 12 };
}

/** Throws `invalid_argument` for a loop guard that cannot be: its figures are whole numbers, and it warns before it stops. */
export function assertLoopGuard(options: LoopGuardOptions | false | undefined): void {
  const settings = loopGuardSettings(options);
  if (settings === undefined) return;
  for (const [name, least] of [
    ["stopAt", 3],
    ["warnAt", 2],
    ["window", 0],
  ] as const) {
    const value = settings[name];
    if (Number.isSafeInteger(value) && value >= least) continue;
    throw new NanoAgentError(
      "invalid_argument",
      `loopGuard.${name} is ${String(value)}; it must be a whole number from ${least}.`,
    );
  }
  if (settings.warnAt < settings.stopAt) return;
  throw new NanoAgentError(
    "invalid_argument",
    `loopGuard.warnAt is ${settings.warnAt} and stopAt ${settings.stopAt}: the model must be warned before it is stopped. Pass a lower warnAt.`,
  );
}
