import type { ChangedRun } from "../../../session/checkpoints/list-turns.ts";
import { shownPath } from "../../../session/checkpoints/path-key.ts";
import { terminalLine } from "../terminal-text.ts";

const MAX_PATHS = 4;

/** The turns of a session that changed files, for people. */
export function turnsText(runs: readonly ChangedRun[], sessionId: string): string {
  if (runs.length === 0) return `No turn of session ${sessionId} changed files.\n`;
  const lines = runs.flatMap((run) => [runLine(run), ...run.turns.map((turn) => turnLine(run.run, turn))]);
  return `${lines.join("\n")}\n`;
}

function runLine({ run, input, time, isUndone }: ChangedRun): string {
  const when = new Date(time).toISOString().slice(0, 16).replace("T", " ");
  const what = input.trim() === "" ? "(without input)" : terminalLine(input, 60);
  return `${String(run).padEnd(6)}${when}  ${what}${isUndone ? "  [undone]" : ""}`;
}

function turnLine(run: number, { turn, tools, paths }: ChangedRun["turns"][number]): string {
  const named = paths.slice(0, MAX_PATHS).map((path) => terminalLine(shownPath(path), 60));
  const more = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : "";
  return `  ${`${run}.${turn}`.padEnd(8)}${tools.join(", ")}: ${named.length === 0 ? "nothing in the workspace" : named.join(", ")}${more}`;
}
