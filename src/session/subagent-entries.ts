import type { JournalEntry } from "../core/agent/entry.ts";

/**
 * Makes a function that tells which entries subagents have written: they bear the scope of a nested `run_start`, or one below it. Phases
 * of a pattern have scopes without a start of their own. It learns from the entries it is given, in their order.
 */
export function subagentEntries(): (entry: JournalEntry) => boolean {
  const scopes = new Set<string>();
  return ({ type, scope }) => {
    if (scope === undefined) return false;
    if (type === "run_start") scopes.add(scope);
    return [...scopes].some((own) => scope === own || scope.startsWith(`${own}/`));
  };
}
