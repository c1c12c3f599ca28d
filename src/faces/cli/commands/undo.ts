import { resolve } from "node:path";
import { currentFolder, userPaths } from "../../../coding/settings/paths.ts";
import { sessionStore } from "../../../coding/setup/open-session.ts";
import { changedRuns, type UndoTarget, withRollbackTarget } from "../../../coding/setup/undo-target.ts";
import { invalidArgument } from "../../../core/base/errors.ts";
import { omitUndefined } from "../../../core/base/json.ts";
import { sessionTitle } from "../../../session/read-session.ts";
import type { SessionFile, SessionStore } from "../../../session/session-store.ts";
import type { ChangedRun, TurnPlace } from "../../../session/undo/checkpoint-history.ts";
import { displayPath } from "../../../session/undo/path-state.ts";
import { type RollbackReport, redo as redoFiles, undo as undoFiles } from "../../../session/undo/rollback.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { rollbackJson, rollbackText } from "../../text/rollback-text.ts";
import type { CommandCall } from "../command-call.ts";
import { type CommandContext, listTime, loadLocalSettings, writeResult } from "../command-context.ts";

/** `nano-agent undo …`: restores files to before a turn, or lists the turns that changed files. */
export async function undo(call: CommandCall): Promise<number> {
  const [turn] = call.words;
  const { store, session } = chosenSession(call);
  if (call.has("--list")) {
    if (turn !== undefined || call.afterDashes.length > 0)
      throw invalidArgument("undo --list takes no turn and no path. Leave them out.");
    const runs = changedRuns(session);
    writeResult(call, runs, turnsText(runs, session.sessionId));
    if (runs.length === 0) suggestOther(call, { store, session });
    return EXIT.done;
  }
  const to = turn === undefined ? undefined : parseTurn(turn);
  const report = await withRollbackTarget(await undoPlace(call, store), session, (place) =>
    undoFiles(place, {
      ...omitUndefined({ to }),
      paths: call.afterDashes.map((path) => resolve(path)),
      force: call.has("--force"),
      dryRun: call.has("--dry-run"),
    }),
  );
  const code = writeReport(call, report, call);
  if (report.status === "nothing" && turn === undefined) suggestOther(call, { store, session });
  return code;
}

const MAX_SEARCHED = 20;

/** If no session was named, suggests the newest other session of the folder that changed files. */
function suggestOther({ stdout, ...call }: CommandCall, { store, session }: ChosenSession): void {
  if (call.text("--session") !== undefined || call.has("--json")) return;
  const other = store
    .list(currentFolder())
    .filter(({ path }) => path !== session.path)
    .slice(0, MAX_SEARCHED)
    .find((each) => changedRuns(each).length > 0);
  if (other === undefined) return;
  const title = terminalLine(sessionTitle(other.path) ?? "no text", 60);
  stdout.write(`An earlier one changed files (${title}): nano-agent undo --session ${other.sessionId}\n`);
}

export async function redo(call: CommandCall): Promise<number> {
  const { store, session } = chosenSession(call);
  const report = await withRollbackTarget(await undoPlace(call, store), session, (place) =>
    redoFiles(place, { force: call.has("--force"), dryRun: call.has("--dry-run") }),
  );
  return writeReport(call, report, call);
}

function writeReport({ stdout, stderr }: CommandContext, report: RollbackReport, call: CommandCall): number {
  const isDry = call.has("--dry-run");
  const isGood =
    report.status !== "refused" && report.failed.every(({ isKeptFolder }) => isKeptFolder === true);
  if (call.has("--json")) stdout.write(`${JSON.stringify(rollbackJson(report, isDry))}\n`);
  else (isGood ? stdout : stderr).write(rollbackText(report, { isDry, on: "shell" }));
  return isGood ? EXIT.done : EXIT.failed;
}

async function undoPlace(context: CommandContext, store: SessionStore): Promise<UndoTarget> {
  const { config, paths } = await loadLocalSettings(context);
  return { paths, store, limits: config.values.undoLimits };
}

function parseTurn(word: string): TurnPlace {
  const [, run, turn] = /^([1-9]\d{0,8})(?:\.([1-9]\d{0,8}))?$/.exec(word) ?? [];
  if (run === undefined)
    throw invalidArgument(
      `${JSON.stringify(word)} is not a turn. Write a number such as 2, or 2.3; see nano-agent undo --list. Write paths after --.`,
    );
  return { run: Number(run), turn: turn === undefined ? 0 : Number(turn) };
}

interface ChosenSession {
  readonly store: SessionStore;
  readonly session: SessionFile;
}

function chosenSession({ environment, ...call }: CommandCall): ChosenSession {
  const store = sessionStore(userPaths(environment));
  const cwd = currentFolder();
  const session = call.text("--session");
  return { store, session: session === undefined ? store.newest(cwd) : store.find(session, cwd) };
}

const MAX_PATHS = 4;

function turnsText(runs: readonly ChangedRun[], sessionId: string): string {
  if (runs.length === 0) return `No turn of session ${sessionId} changed files.\n`;
  const lines = runs.flatMap((run) => [runLine(run), ...run.turns.map((turn) => turnLine(run.run, turn))]);
  return `${lines.join("\n")}\n`;
}

function runLine({ run, input, time, isUndone }: ChangedRun): string {
  const what = input.trim() === "" ? "(without input)" : terminalLine(input, 60);
  return `${String(run).padEnd(6)}${listTime(time)}  ${what}${isUndone ? "  [undone]" : ""}`;
}

function turnLine(run: number, { turn, tools, paths }: ChangedRun["turns"][number]): string {
  const named = paths.slice(0, MAX_PATHS).map((path) => terminalLine(displayPath(path), 60));
  const more = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : "";
  return `  ${`${run}.${turn}`.padEnd(8)}${tools.join(", ")}: ${named.length === 0 ? "nothing in the workspace" : named.join(", ")}${more}`;
}
