import { sessionStore } from "../coding/setup/open-session.ts";
import { SpendingTally } from "../journal/session-usage.ts";
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
  const spent = new SpendingTally();
  for (const { path } of left) readSession(path).entries.forEach((entry) => spent.add(entry));
  return spent.total.costUsd;
}
