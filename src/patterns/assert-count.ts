import { NanoAgentError } from "../core/base/errors.ts";

/** `value`, if it is a whole number from `least` on; else throws `invalid_argument`. */
export function assertCount(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new NanoAgentError(
    "invalid_argument",
    `${name} is ${String(value)}; it must be a whole number from ${least}.`,
  );
}
