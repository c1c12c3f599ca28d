import { misuse } from "./errors.ts";

/**
 * Throws `invalid_argument` in an engine that lacks what this package is written for. Such engines load every
 * entry, and would fail somewhere in the middle of the work: whatever begins some calls this first.
 */
export function assertEngine(): void {
  if (typeof Promise.withResolvers === "function" && typeof Map.groupBy === "function") return;
  throw misuse(
    "This engine is too old for nano-agent: it lacks parts of ES2024 (Promise.withResolvers, Map.groupBy). Use Node 22.19 or newer, or a browser, Deno or Bun of 2024 or later.",
  );
}
