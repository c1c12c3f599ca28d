import type { JournalEntry } from "../core/agent/entry.ts";

/**
 * Tells which entries subagents have written: they bear the scope of a nested `run_start`, or one below it. Phases of a pattern have
 * scopes without a start of their own.
 */
export function subagentEntries(entries: readonly JournalEntry[]): (entry: JournalEntry) => boolean {
  const scopes = new Set<string>();
  for (const { type, scope } of entries) if (type === "run_start" && scope !== undefined) scopes.add(scope);
  return ({ scope }) =>
    scope !== undefined && [...scopes].some((own) => scope === own || scope.startsWith(`${own}/`));
}
