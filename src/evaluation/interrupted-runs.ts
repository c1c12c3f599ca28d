import { sessionStore } from "../coding/setup/open-session.ts";
import { addSpending, isSpending, NO_SPENDING } from "../core/agent/state.ts";
import { readSession } from "../session/read-session.ts";
import type { ResultsFolder } from "./results-folder.ts";

/**
 * US dollars that runs have cost which were interrupted before they had a result, after their sessions;
 * undefined when a price is unknown. `known`: the sessions of results.
 */
export function spentByInterrupted(
  { history: historyFolder }: ResultsFolder,
  known: ReadonlySet<string>,
): number | undefined {
  const left = sessionStore({ historyFolder })
    .list()
    .filter(({ sessionId }) => !known.has(sessionId));
  let spending = NO_SPENDING;
  for (const { path } of left)
    for (const entry of readSession(path).entries)
      if (isSpending(entry)) spending = addSpending(spending, entry);
  return spending.costUsd;
}
