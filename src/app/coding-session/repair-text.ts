import type { RepairReport } from "../../session/repair-report.ts";

/** What was put right to go on with a session, in one line for a person. */
export function repairText({ damaged, droppedResults, interrupted }: RepairReport, path: string): string {
  const parts = [
    list(
      damaged,
      (count) =>
        `${count} damaged ${count === 1 ? "place" : "places"}, left as ${count === 1 ? "it is" : "they are"}`,
      ({ line, reason }) => `line ${line}: ${reason}`,
    ),
    list(
      droppedResults,
      (count) => `${count} tool ${count === 1 ? "result" : "results"} left out, whose call is gone`,
      (id) => id,
    ),
    list(
      interrupted,
      (count) => `${count} tool ${count === 1 ? "call was" : "calls were"} interrupted`,
      ({ name, outcome }) => (outcome === "unknown" ? `${name}, outcome unknown` : `${name}, never ran`),
    ),
  ].filter((part) => part !== "");
  return `The session was repaired to go on (${path}): ${parts.join("; ")}.`;
}

const SHOWN = 5;

function list<T>(items: readonly T[], head: (count: number) => string, show: (item: T) => string): string {
  if (items.length === 0) return "";
  const shown = items.slice(0, SHOWN).map(show);
  if (items.length > SHOWN) shown.push("…");
  return `${head(items.length)} (${shown.join(", ")})`;
}
