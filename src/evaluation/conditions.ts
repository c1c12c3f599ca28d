import type { ConfigFile } from "../coding/settings/config-schema.ts";

/** Settings that decide nothing about a run, or are told with each, or may be raised to go on. */
const ASIDE: ReadonlySet<string> = new Set<keyof ConfigFile>([
  "model",
  "maxBudgetUsd",
  "network",
  "memory",
  "undo",
  "undoLimits",
  "openTelemetry",
  "theme",
  "notifications",
  "keys",
]);

/** The settings that decide how runs go, wherever they come from. */
export function conditionsOf(values: ConfigFile): { readonly [name: string]: unknown } {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !ASIDE.has(name)));
}
